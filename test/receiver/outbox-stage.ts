// An outbox over either store, with services that answer as the test says and a clock it turns.

import { onTestFinished } from 'vitest';
import type { ContractInput } from '../../core/contract.ts';
import {
  type Intent,
  type MaySend,
  type OutboxOptions,
  openOutbox,
  openStore,
  type Sending,
  type SendOutcome,
} from '../../receiver/index.ts';
import type { Place } from './stage.ts';

export const HOUR_MS = 3_600_000;
const keyed: ContractInput = {
  scope: { receiver: 'bank', account: 'a1', workspace: 'w1', region: 'eu' },
  identity: { travelsAs: 'header Idempotency-Key' },
  retentionMs: 24 * HOUR_MS,
};
const settings = { busyTimeoutMs: 5_000, transactionMs: 30_000, tables: () => [] };
export const mail: Intent = {
  key: 'order-1/mail',
  receiver: 'mail',
  principal: 'ada',
  payload: '{"n":1}',
};
export const pay: Intent = {
  key: 'order-1/pay',
  receiver: 'bank',
  principal: 'ada',
  payload: '{"n":2}',
};
export const yes: MaySend = { kind: 'yes' };
export const lost = () => Promise.reject(new Error('socket hang up'));
export const done = async (): Promise<SendOutcome> => ({ kind: 'executed', externalId: 'x-1' });

export type Answer = (sending: Sending) => Promise<SendOutcome>;

/** `answers`: of the services, one for each call; the last one goes on. */
export async function outboxAt(
  place: Place,
  more: Partial<OutboxOptions> = {},
  ...answers: Answer[]
) {
  const store = await openStore(place.at, settings);
  onTestFinished(() => store.close());
  const calls: Sending[] = [];
  const time = { now: 1_700_000_000_000 };
  const send: Answer = async (sending) => {
    sending.beforeSend();
    calls.push(sending);
    const answer = answers[Math.min(calls.length, answers.length) - 1] ?? done;
    return answer(sending);
  };
  const outbox = await openOutbox({
    store,
    receivers: { mail: { send }, bank: { contract: keyed, send } },
    mayStillSend: async () => yes,
    clock: () => time.now,
    ...more,
  });
  const enqueue = async (intent: Intent) => {
    const committed = await store.transaction((tx) => outbox.enqueue(tx, intent));
    if (committed.kind !== 'committed') throw committed;
    return committed.value;
  };
  /** Sends until nothing is due for an hour. */
  const drain = async () => {
    for (let turn = 0; turn < 50; turn++) {
      if ((await outbox.sendNext()) === null) return;
      time.now += 60_000;
    }
    throw new Error('there is always something due');
  };
  const stateOf = async (key: string) => (await outbox.intent(key))?.state;
  return { outbox, store, calls, time, enqueue, drain, stateOf };
}
