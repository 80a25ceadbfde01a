// A receiver without keys and with conditional writes (L1). Catches a write without an answer that
// is written again, or given up, before the object was looked at, and a conflict taken for a loss.

import { expect, test } from 'vitest';
import * as z from 'zod';
import { defineTool, type InquiryAnswer } from '../../activities/index.ts';
import { limits } from '../../core/limits.ts';
import { activityRig, failureOfRun, RUN } from '../support/activity-rig.ts';
import { type ObjectStore, openObjectStore, type StoredObject } from '../support/object-store.ts';

const ACTION = `${RUN}.t1.c1`;
const DELAY_MAX_MS = 1_000;
const seven = { text: 'from seven to eight', ifVersion: '7' };

const look = async ({ url }: ObjectStore) => (await (await fetch(url)).json()) as StoredObject;

/** Compare with the object: ours is there, the old one is there, or somebody else's is. */
async function compared(
  store: ObjectStore,
  { key, ifVersion }: { readonly key: string; readonly ifVersion: string },
): Promise<InquiryAnswer<{ version: string }>> {
  const { version, writtenBy } = await look(store);
  if (writtenBy === key)
    return { verdict: 'executed', result: { version }, objectVersion: version };
  if (version === ifVersion) return { verdict: 'no_record', detail: `still at ${version}` };
  return { verdict: 'conflict', detail: `at ${version}, written by another hand` };
}

function writeObject(store: ObjectStore) {
  const input = z.strictObject({ text: z.string(), ifVersion: z.string() });
  return defineTool<z.infer<typeof input>, { version: string }>({
    name: 'write_object',
    version: '1',
    description: 'Writes the object, if it is still the version that was read.',
    input,
    receiver: {
      inquiry: { consistency: 'strong', settleMs: 0 },
      requestDelayMaxMs: DELAY_MAX_MS,
    },
    async execute({ text, ifVersion }, attempt) {
      attempt.beforeSend();
      const response = await fetch(store.url, {
        method: 'PUT',
        headers: { 'If-Match': ifVersion, 'X-Written-By': attempt.receiverKey },
        body: text,
      });
      const version = response.headers.get('etag');
      if (response.status === 200 && version !== null)
        return { kind: 'executed', result: { version }, objectVersion: version };
      // 412: another hand, or this very action before. Only the object tells.
      throw new Error(`${response.status}: compare with the object`);
    },
    inquire: ({ receiverKey, input: sent }) =>
      compared(store, { key: receiverKey, ifVersion: input.parse(sent).ifVersion }),
  });
}

async function staged() {
  const store = await openObjectStore('at seven');
  const clock = { aheadMs: 0 };
  const rig = await activityRig({
    tools: { write_object: writeObject(store) },
    ledgerClock: () => Date.now() + clock.aheadMs,
  });
  const opened = await rig.open();
  const attempt = () => rig.perform(rig.call(opened, { input: { kind: 'inline', value: seven } }));
  const ask = () =>
    rig.activities().inquire({
      ...{ runId: RUN, pin: null, actionId: ACTION, mode: 'ask', attemptIds: [], wantsValue: true },
    });
  const requestCanArriveNoMore = () => {
    clock.aheadMs += limits.sendWindowMs + DELAY_MAX_MS + 1;
  };
  return { store, attempt, ask, requestCanArriveNoMore };
}

test('B11 B12 the answer is lost: the object carries the key, nothing is sent again', async () => {
  const { store, attempt, ask } = await staged();
  store.lose('the answer');
  await failureOfRun(attempt());
  expect(await ask()).toMatchObject({ verdict: 'executed', outcome: { kind: 'executed' } });
  expect(await attempt()).toMatchObject({ verdict: 'already_final' });
  expect([store.writes(), store.now().version]).toEqual([1, '8']);
});

test('B11 D5 the request is lost: only once it can come no more is it sent again', async () => {
  const { store, attempt, ask, requestCanArriveNoMore } = await staged();
  store.lose('the request');
  await failureOfRun(attempt());
  expect(await ask()).toMatchObject({ verdict: 'no_record', outcome: null });
  expect(await attempt()).toMatchObject({ verdict: 'action_in_doubt' });
  requestCanArriveNoMore();
  expect(await ask()).toMatchObject({ outcome: { kind: 'not_executed' }, openAttempts: [] });
  expect(await attempt()).toMatchObject({ verdict: 'entered', settled: 'executed' });
  expect([store.writes(), store.now().version]).toEqual([1, '8']);
});

test('B11 another hand was there first: a conflict for a person, its bytes stay', async () => {
  const { store, attempt, ask, requestCanArriveNoMore } = await staged();
  store.overwrite('by another hand');
  await failureOfRun(attempt());
  requestCanArriveNoMore();
  const reply = await ask();
  expect(reply).toMatchObject({ verdict: 'conflict', outcome: null });
  expect(reply.question?.evidence.lastAnswer).toMatch(/conflict.*at 8, written by another hand/);
  expect(await attempt()).toMatchObject({ verdict: 'action_in_doubt' });
  expect([store.writes(), store.now().body]).toEqual([1, 'by another hand']);
});
