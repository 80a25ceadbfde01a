// A revocation in a flood of signals: eight lanes of attempts, three of them right before the
// barrier when it comes, and the raw signal alone, so that the barrier is all that stands between
// it and an effect. Played by the tests and by `npm run faults`.
//
// Would catch: a gate that opens for an attempt whose barrier began after the server had accepted
// the revocation, because the barrier did not wait until the workflow had handled it.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { type BarrierWatch, recordable, startsIn, startsLog } from '../support/barrier-watch.ts';
import { HELD_CALLS, heldCounters, instructionsFor } from '../support/calls-at-once.ts';
import {
  type FaultServer,
  type FaultStage,
  openFaultStage,
  until,
} from '../support/fault-stage.ts';
import { operatorOf } from '../support/operator.ts';
import { inFlood, moment } from '../support/signal-flood.ts';
import { endText } from './harness.ts';

export const FLOOD_TITLE = 'R-109 revoked in a flood of signals, no gate opens afterwards';

/** More than are at work at once, so that all lanes are busy whenever it strikes. */
const CALLS = 100;
const STRIKES_AFTER_MS = 100;
const STRIKES_WITHIN_MS = 600;
const DELAY_MAX_MS = 60;
const WITHIN_MS = 60_000;

export interface FloodStage {
  readonly faults: FaultStage;
  readonly temporal: Client;
  readonly directory: string;
  close(): Promise<void>;
}

export async function openFloodStage(
  server: FaultServer,
  seed: number,
  rule: BarrierWatch['rule'] = 'real',
): Promise<FloodStage> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-flood-'));
  const barrier = { directory, rule, delayMaxMs: DELAY_MAX_MS, seed };
  const faults = await openFaultStage(server, { barrier, callsAtOnce: CALLS });
  const connection = await Connection.connect({ address: server.address });
  return {
    faults,
    temporal: new Client({ connection, namespace: server.namespace }),
    directory,
    async close() {
      await faults.close();
      await connection.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export interface Flooded {
  readonly end: string;
  /** Attempts that the gate let through. */
  readonly entered: number;
  /** Signals that the server took. */
  readonly signals: number;
  /** Attempts whose barrier began after the server had acknowledged the revocation. */
  readonly late: number;
  /** Of these: let through all the same, and arrived at the receiver. */
  readonly opened: readonly string[];
  readonly arrived: readonly string[];
}

export async function playFlood(
  stage: FloodStage,
  { runId, random }: { readonly runId: string; readonly random: () => number },
): Promise<Flooded> {
  const { faults, temporal, directory } = stage;
  await faults.worker();
  const goal = { kind: 'model' as const, instructions: instructionsFor(runId) };
  const principal = { user: 'ada', workspace: 'w1' };
  const run = await faults.client.start(runId, { goal, principal });
  const handle = temporal.workflow.getHandle(runId);
  const { result: acknowledgedAt, signals } = await inFlood(handle, random, () =>
    struck(stage, handle, random),
  );
  await writeFile(join(directory, recordable(runId)), '');
  const { end } = await run.result();
  return observed(stage, { runId, acknowledgedAt, end: endText(end), signals });
}

/** What is wrong with it; empty when everything holds. */
export function floodProblems({ end, entered, late, opened, arrived }: Flooded): readonly string[] {
  return [
    ...(end === 'stopped: revoked' ? [] : [`it ended ${end}`]),
    ...(entered > 0 && entered < CALLS ? [] : [`${entered} attempts entered: it struck nothing`]),
    ...(late >= HELD_CALLS ? [] : [`${late} attempts began after it: nothing was put to the test`]),
    ...opened.map((attemptId) => `${attemptId} entered though it began after the revocation`),
    ...arrived.map((attemptId) => `${attemptId} arrived though it began after the revocation`),
  ];
}

/** Revokes at a random moment. Returns the clock's time when the server had taken it. */
async function struck(
  { faults, temporal, directory }: FloodStage,
  handle: WorkflowHandle,
  random: () => number,
): Promise<bigint> {
  const runId = handle.workflowId;
  await until('the first effect', WITHIN_MS, async () => {
    return (await faults.receiver.effects()).some(({ key }) => key.includes(`/${runId}.`));
  });
  await moment(STRIKES_AFTER_MS + random() * STRIKES_WITHIN_MS);
  await handle.signal('revoke', { id: 'revoke', actor: 'ann@example.com', reason: 'withdrawn' });
  const acknowledgedAt = process.hrtime.bigint();
  for (const counter of heldCounters(runId)) await writeFile(join(directory, counter), '');
  const { pending } = operatorOf(temporal);
  await until('no attempt is left', WITHIN_MS, async () => {
    return !(await pending(runId)).some(({ type }) => type === 'performAction');
  });
  return acknowledgedAt;
}

interface Of {
  readonly runId: string;
  readonly acknowledgedAt: bigint;
  readonly end: string;
  readonly signals: number;
}

async function observed({ faults, directory }: FloodStage, of: Of): Promise<Flooded> {
  const { runId, acknowledgedAt, end, signals } = of;
  const starts = startsIn(await readFile(startsLog(directory), 'utf8'));
  const late = starts.filter(
    ({ attemptId, at }) => attemptId.startsWith(`${runId}.`) && at > acknowledgedAt,
  );
  const facts = await faults.ledger.facts(runId, { after: 0, limit: 10_000 });
  const entered = facts.flatMap(({ body }) =>
    body.kind === 'attempt_entered' && !body.actionId.endsWith('.m') ? [body.attemptId] : [],
  );
  const requests = await faults.receiver.requests();
  const ids = late.map(({ attemptId }) => attemptId);
  return {
    ...{ end, signals },
    entered: entered.length,
    late: ids.length,
    opened: ids.filter((attemptId) => entered.includes(attemptId)),
    // One attempt each: what was refused is not tried again after a stop.
    arrived: ids.filter((attemptId) =>
      requests.some(({ key }) => key.endsWith(attemptId.slice(0, attemptId.indexOf('~')))),
    ),
  };
}
