// The support desk's model calls, with the worker killed around them. Would catch: a reply that is
// bought twice without a record, or a step that is decided anew although its reply was stored.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createClient, type HoldfastClient } from '../../client/client.ts';
import { clientConfigFrom } from '../../core/config.ts';
import { effectRows } from '../../examples/support-desk/effect-rows.ts';
import { armKillPoint, type KillPoint } from '../../examples/support-desk/kill-points.ts';
import type { LoggedRequest } from '../../examples/support-desk/model-server.ts';
import { openStage, type Stage } from '../../examples/support-desk/stage.ts';
import { tallyOf } from '../../examples/support-desk/tally.ts';
import type { Ledger } from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';

const REACHED_MS = 60_000;
const kills: readonly (readonly [KillPoint, string])[] = [
  ['before_gate', 't1.m'],
  ['after_result', 't1.m'],
  ['after_receiver_commit', 't2.m'],
];

let stage: Stage;
let ledger: Ledger;
let client: HoldfastClient;

/** The whole run, killed three times and with one reply dropped. */
beforeAll(async () => {
  stage = await openStage({ existing: inject('temporal').address, workers: kills.length + 1 });
  ledger = await openSqliteLedger({ path: stage.paths.ledger, create: true });
  client = await createClient({ config: clientConfigFrom(stage.settings), ledger });
  const { runId } = stage;
  for (const [index, [point, position]] of kills.entries()) {
    armKillPoint(stage.paths.killPoints, { point, actionId: `${runId}.${position}` });
    const worker = await stage.startWorker();
    const principal = { user: 'bot', workspace: 'desk' };
    if (index === 0) await client.start(runId, { goal: 'work through the mails', principal });
    await worker.line(`REACHED ${point} `, REACHED_MS);
    await worker.kill();
  }
  await stage.startWorker();
  await client.result(runId);
});
afterAll(async () => {
  await client.close();
  await ledger.close();
  await stage.stop();
});

function requests(): LoggedRequest[] {
  const lines = readFileSync(stage.paths.modelLog, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as LoggedRequest);
}

/** By turn: a request of turn n tells of n - 1 replies. */
function requestsOfTurn(turn: number): number {
  const replies = ({ body }: LoggedRequest) =>
    (body as { messages: { role: string }[] }).messages.filter(({ role }) => role === 'assistant');
  return requests().filter((request) => replies(request).length === turn - 1).length;
}

const attemptsOf = async (position: string) =>
  (await ledger.read(stage.runId)).actions.get(`${stage.runId}.${position}`)?.attempts ?? [];

test('every request to the model came through the AI SDK', () => {
  const agents = requests().map(({ headers }) => String(headers['user-agent']));
  expect(agents.filter((agent) => !/ai-sdk|\bai\//.test(agent))).toEqual([]);
  expect(requests().every(({ path }) => path === '/v1/chat/completions')).toBe(true);
});

test('R-058 killed before the call and after its reply, turn 1 is bought once', async () => {
  expect(requestsOfTurn(1)).toBe(1);
  expect(await attemptsOf('t1.m')).toHaveLength(1);
});

test('R-057 a reply that was lost before it was stored is bought again, on record', async () => {
  const attempts = await attemptsOf('t2.m');
  expect(attempts.map(({ settled }) => settled?.outcome ?? 'open')).toEqual(['open', 'executed']);
  expect(requestsOfTurn(2)).toBe(attempts.length);
  const { cost, costText } = await client.result(stage.runId);
  expect(cost.unknownAttempts).toBe(1);
  expect(costText).toMatch(/^at least .*, 1 of unknown cost$/);
});

test('R-058 R-055 whatever happened to the calls, each mail has one ticket', async () => {
  const run = await ledger.read(stage.runId);
  const facts = await ledger.facts(stage.runId, { after: 0, limit: 10_000 });
  const tally = tallyOf({ run, facts, effects: await effectRows(stage) });
  expect(tally).toMatchObject({ intents: 26, effects: 26, duplicates: 0, lost: 0 });
  expect(run.ended?.end).toEqual({ kind: 'completed' });
});
