// Would catch: a receiver's "I have no record of it" that is taken for "it was not done". Six of
// them lie, each in another way, while the effect is there or about to come; one adapter says more
// than its contract. Sends are counted on the wire, effects in the receiver's own log.

import { beforeAll, expect, test } from 'vitest';
import { asked, until } from '../support/fault-stage.ts';
import { promiseStage, WITHIN_MS, who } from '../support/promise-stage.ts';
import { startReceiver } from '../support/receiver-process.ts';

const at = promiseStage();
const actionOf = (runId: string) => `${runId}.t1.c1`;
const unheard = 'commit_then_drop_reply';

/** Each is armed before its run starts; all of them go on side by side. */
const liars: Record<string, { readonly tool: string; arm(actionId: string): Promise<void> }> = {
  'liar-account': {
    tool: 'record_once',
    async arm(keyIncludes) {
      const { receiver } = at().stage;
      await receiver.arm({ fault: unheard, keyIncludes });
      await receiver.arm({ fault: 'wrong_account', keyIncludes, times: 999 });
    },
  },
  'liar-partition': {
    tool: 'record_once',
    async arm(keyIncludes) {
      const { stage, tap } = at();
      await stage.receiver.arm({ fault: unheard, keyIncludes });
      tap.next('inquire', keyIncludes, { to: partition.url }, 999);
    },
  },
  'liar-replica': {
    tool: 'record_once',
    async arm(keyIncludes) {
      const { receiver } = at().stage;
      await receiver.arm({ fault: unheard, keyIncludes });
      await receiver.arm({ fault: 'lagging_reads', keyIncludes, delayMs: 600_000 });
    },
  },
  'liar-in-flight': {
    tool: 'record_once',
    async arm(actionId) {
      at().tap.next('execute', actionId, { keep: 'forgotten' });
    },
  },
  'liar-expired': {
    tool: 'record_once',
    async arm(keyIncludes) {
      const { receiver } = at().stage;
      await receiver.arm({ fault: unheard, keyIncludes });
      await receiver.arm({ fault: 'forget_key', on: 'inquire', keyIncludes, times: 999 });
    },
  },
  'liar-just-created': {
    tool: 'record_later',
    async arm(keyIncludes) {
      const { receiver } = at().stage;
      await receiver.arm({ fault: unheard, keyIncludes });
      await receiver.arm({ fault: 'lagging_reads', keyIncludes, times: 2 });
    },
  },
  'liar-boast': {
    tool: 'record_boast',
    async arm(keyIncludes) {
      const { receiver } = at().stage;
      await receiver.arm({ fault: unheard, keyIncludes });
      await receiver.arm({ fault: 'wrong_account', keyIncludes, times: 999 });
    },
  },
  'liar-keyed': {
    tool: 'pay',
    async arm(keyIncludes) {
      const { receiver } = at().stage;
      await receiver.arm({ fault: unheard, keyIncludes });
      await receiver.arm({ fault: 'wrong_account', keyIncludes, times: 999 });
    },
  },
};

/** Has seen nothing of what the receiver did. */
let partition: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  partition = await startReceiver();
  for (const [runId, { tool, arm }] of Object.entries(liars)) {
    await arm(actionOf(runId));
    const input = tool === 'pay' ? { account: runId, amount: 10 } : { name: runId };
    await at().start(runId, { tool, input });
  }
  return () => partition.stop();
});

/** A question is open, the receiver has been asked, and the record holds no end of it. */
async function isUnknown(runId: string): Promise<void> {
  const { stage, sends, scheduled } = at();
  await asked(stage.client, actionOf(runId));
  const { recorded } = await stage.client.state(runId);
  expect(recorded?.actions).toMatchObject([{ word: 'unknown' }]);
  expect(sends(actionOf(runId))).toHaveLength(1);
  expect(await scheduled(actionOf(runId))).toHaveLength(1);
}

test.each([
  ['the wrong account', 'liar-account'],
  ['a partition that missed it', 'liar-partition'],
  ['a replica that lags', 'liar-replica'],
  ['a record that has expired', 'liar-expired'],
])('R-037 D5 no record by %s: unknown, sent once, one effect', async (_name, runId) => {
  const { answered, effects, sends, stage } = at();
  await answered(runId, 'no_record');
  await isUnknown(runId);
  const more = (await stage.client.question(runId, actionOf(runId)))?.more ?? [];
  const abandon = more.find(({ verb }) => verb === 'abandon');
  await stage.client.resolve(runId, { ...abandon, ...who } as never);
  const end = { kind: 'ended_with_unknown' };
  expect(await stage.client.result(runId)).toMatchObject({ end, unknownsCount: 1 });
  expect(sends(actionOf(runId))).toHaveLength(1);
  expect(await effects(actionOf(runId))).toHaveLength(1);
});

test('R-037 R-038 D5 no record while it is on its way: it comes, and is found', async () => {
  const { answered, effects, sends, tap, stage } = at();
  const runId = 'liar-in-flight';
  await answered(runId, 'no_record');
  await isUnknown(runId);
  expect(await effects(actionOf(runId))).toEqual([]);
  expect(await tap.release(actionOf(runId))).toEqual([200]);
  expect(await stage.client.result(runId)).toMatchObject({ end: { kind: 'completed' } });
  expect(sends(actionOf(runId))).toHaveLength(1);
  expect(await effects(actionOf(runId))).toHaveLength(1);
});

test('R-037 K-016 no record inside the settle window: no proof; it settles once seen', async () => {
  const { answered, bodies, effects, sends, stage } = at();
  const runId = 'liar-just-created';
  await answered(runId, 'no_record');
  expect(await stage.client.result(runId)).toMatchObject({ end: { kind: 'completed' } });
  const [settled, ...others] = await bodies(runId, 'attempt_settled');
  expect([settled?.outcome, others]).toEqual(['executed', []]);
  expect(sends(actionOf(runId))).toHaveLength(1);
  expect(await effects(actionOf(runId))).toHaveLength(1);
});

test('R-037 R-102 an adapter claims a closed door that its contract has not: unknown', async () => {
  const { answered, bodies, effects } = at();
  const runId = 'liar-boast';
  await answered(runId, 'not_executed');
  await isUnknown(runId);
  const observed = await bodies(runId, 'observation');
  expect(observed.map(({ proof }) => proof)).toEqual(observed.map(() => null));
  expect(await effects(actionOf(runId))).toHaveLength(1);
  await until('a second look', WITHIN_MS, async () => {
    const looks = at().tap.wires(actionOf(runId));
    return looks.filter(({ kind }) => kind === 'inquire').length > 1;
  });
  await isUnknown(runId);
});

test('R-037 no record of a keyed action: the same key again, and still one effect', async () => {
  const { effects, sends, keyOf, stage } = at();
  const runId = 'liar-keyed';
  expect(await stage.client.result(runId)).toMatchObject({ end: { kind: 'completed' } });
  const keys = sends(actionOf(runId)).map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual([`"${keyOf(actionOf(runId))}"`, `"${keyOf(actionOf(runId))}"`]);
  expect(await effects(actionOf(runId))).toHaveLength(1);
});
