// Would catch: a gate that opens on a workflow task that was replaced, by a sticky timeout or a
// failure, without anybody having handled the revocation that it was made for. The attempt is in
// another process than the workflow, and begins its barrier after the server took the revocation.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Child } from '../../examples/support-desk/child.ts';
import { HELD, recordable } from '../support/barrier-watch.ts';
import { type FaultStage, openFaultStage, until } from '../support/fault-stage.ts';

const WITHIN_MS = 60_000;
const principal = { user: 'ada', workspace: 'w1' };
const revoke = { id: 'revoke-1', actor: 'ann@example.com', reason: 'the order was withdrawn' };

const directory = await mkdtemp(join(tmpdir(), 'holdfast-dead-worker-'));
const watch = { directory, delayMaxMs: 0, seed: 0 };
const broken = join(directory, 'broken-bundle.js');
let stage: FaultStage;
let connection: Connection;
let temporal: Client;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  const bundlePath = inject('bundlePath');
  // Longer than the sticky timeout of a second: the task is replaced while the barrier waits.
  const settings = { HOLDFAST_BARRIER_WAIT_MS: '3000' };
  const barrier = { ...watch, rule: 'real' as const };
  stage = await openFaultStage({ address, namespace, bundlePath }, { barrier, settings });
  connection = await Connection.connect({ address });
  temporal = new Client({ connection, namespace });
  await writeFile(broken, brokenBundle(await readFile(bundlePath, 'utf8')));
});
afterAll(async () => {
  await stage.close();
  await connection.close();
  await rm(directory, { recursive: true });
});

/** A deploy with a bug: every workflow task fails, for ever. */
function brokenBundle(code: string): string {
  const start = /function beginSession\(\w*\) \{/;
  expect(code).toMatch(start);
  return code.replace(start, (found) => `${found} throw new Error('a deploy with a bug');`);
}

interface Revoked {
  readonly runId: string;
  readonly counter: string;
  readonly end: Promise<{ readonly end: object }>;
}

/** A run whose only attempt waits right before its barrier, in the process `effects`. */
async function atTheBarrier(name: string, effects: Child): Promise<Revoked> {
  const runId = `dead-worker-${name}`;
  const counter = `${HELD}-${name}`;
  const steps = [{ tool: 'add_elsewhere', input: { counter, delta: 1 } }];
  const goal = { kind: 'plan' as const, steps };
  const run = await stage.client.start(runId, { goal, principal });
  await effects.line(`HELD ${counter}`, WITHIN_MS);
  return { runId, counter, end: run.result() };
}

/** The raw signal alone, acknowledged, and only then the barrier begins. */
async function revokeThenAsk({ runId, counter }: Revoked): Promise<void> {
  await temporal.workflow.getHandle(runId).signal('revoke', revoke);
  await writeFile(join(directory, counter), '');
}

async function verdictOf({ runId }: Revoked): Promise<string> {
  return until('the gate has said', WITHIN_MS, async () => {
    const facts = await stage.ledger.facts(runId, { after: 0, limit: 50 });
    const bodies = facts.map(({ body }) => body);
    if (bodies.some(({ kind }) => kind === 'attempt_entered')) return 'entered';
    return bodies.find((body) => body.kind === 'attempt_refused')?.verdict ?? null;
  });
}

async function arrivals({ runId }: Revoked): Promise<number> {
  const requests = await stage.receiver.requests();
  return requests.filter(({ key }) => key.includes(`/${runId}.`)).length;
}

const runsWorkers: Child[] = [];

/** Serves everything but the attempts: the workflow is in it. */
async function runsWorker(over: { readonly bundlePath?: string } = {}): Promise<Child> {
  const worker = await stage.another('not_elsewhere', over);
  runsWorkers.push(worker);
  return worker;
}

async function endRunsWorkers(): Promise<void> {
  for (const worker of runsWorkers.splice(0)) await worker.kill();
}

interface Row {
  readonly name: string;
  readonly title: string;
  readonly strike: (runs: Child) => Promise<void>;
}

const rows: readonly Row[] = [
  { name: 'killed', title: 'is killed', strike: (runs) => runs.kill() },
  { name: 'ended', title: 'has ended in order', strike: (runs) => runs.stop() },
  {
    name: 'frozen',
    title: 'is frozen',
    strike: async (runs) => void process.kill(runs.pid, 'SIGSTOP'),
  },
  {
    name: 'failing',
    title: 'is replaced by one whose tasks fail',
    async strike(runs) {
      await runs.kill();
      await runsWorker({ bundlePath: broken });
    },
  },
];

let effects: Child;
test.each(rows.map((row) => [row.title, row] as const))(
  'R-109 the workflow’s worker %s at a revoke: no gate opens',
  async (_, row) => {
    effects ??= await stage.another('elsewhere_only');
    // The healthy one at the end of one row is the one that is struck in the next.
    const runs = runsWorkers.find((each) => !each.hasEnded()) ?? (await runsWorker());
    const revoked = await atTheBarrier(row.name, effects);
    await row.strike(runs);
    await revokeThenAsk(revoked);

    expect(await verdictOf(revoked)).toBe('authority_unavailable');
    await endRunsWorkers();
    await writeFile(join(directory, recordable(revoked.runId)), '');
    await runsWorker();
    expect((await revoked.end).end).toEqual({ kind: 'stopped', reason: 'revoked' });
    expect(await arrivals(revoked)).toBe(0);
  },
);

test('without a look at pending tasks the gate opens: the control of all of these', async () => {
  await effects.kill();
  const blind = await stage.another('elsewhere_only', { barrier: { ...watch, rule: 'blind' } });
  if (runsWorkers.length === 0) await runsWorker();
  const revoked = await atTheBarrier('control', blind);
  await endRunsWorkers();
  await revokeThenAsk(revoked);
  expect(await verdictOf(revoked)).toBe('entered');
  await until('its effect', WITHIN_MS, async () => (await arrivals(revoked)) === 1);
});
