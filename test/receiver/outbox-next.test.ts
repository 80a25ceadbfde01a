// What is done with an intent, as two tables. Catches: a condition that another one hides.

import { expect, test } from 'vitest';
import { type ContractInput, contractSchema } from '../../core/contract.ts';
import { dueOf, endedBy, refusedState } from '../../receiver/outbox/next.ts';

const T0 = 1_700_000_000_000;
const keyed: ContractInput = {
  scope: { receiver: 'bank', account: 'a', workspace: 'w', region: 'eu' },
  identity: { travelsAs: 'header Idempotency-Key' },
  retentionMs: 3_600_000,
  retentionMarginMs: 600_000,
};
const under = { state: 'sending', sends: 1, openSends: 1, firstSentAt: T0 } as const;

test.each<[string, object, ContractInput, number, string]>([
  ['queued', { state: 'queued', sends: 0, openSends: 0, firstSentAt: null }, {}, T0, 'send'],
  ['queued by a person', { state: 'queued' }, {}, T0 + 9e9, 'send'],
  ['no contract', {}, {}, T0, 'unknown'],
  ['no scope', {}, { ...keyed, scope: 'none' }, T0, 'unknown'],
  ['no identity', {}, { ...keyed, identity: 'none' }, T0, 'unknown'],
  ['no retention', {}, { ...keyed, retentionMs: 'none' }, T0, 'unknown'],
  ['retention within its margin', {}, { ...keyed, retentionMarginMs: 3_600_000 }, T0, 'unknown'],
  ['keyed, at once', {}, keyed, T0, 'resend'],
  ['keyed, at the last moment', {}, keyed, T0 + 2_999_999, 'resend'],
  ['keyed, at the margin', {}, keyed, T0 + 3_000_000, 'unknown'],
  ['keyed, before it was sent', {}, keyed, T0 - 1, 'unknown'],
  ['keyed, never sent by the record', { firstSentAt: null }, keyed, T0, 'unknown'],
  ['keyed, sent often enough', { sends: 5 }, keyed, T0, 'unknown'],
])('R-033 R-027 %s: what is due', (_what, record, contract, now, kind) => {
  const at = { record: { ...under, ...record }, contract: contractSchema.parse(contract), now };
  expect(dueOf({ ...at, sendsMax: 5 }).kind).toBe(kind);
});

test.each([
  ['executed', 0, 1, 'executed'],
  ['executed', 2, 9, 'executed'],
  ['open', 1, 1, 'sending'],
  ['not_executed', 0, 1, 'not_executed'],
  ['not_executed', 1, 2, 'sending'],
  ['again', 0, 1, 'queued'],
  ['again', 1, 2, 'sending'],
  ['again', 0, 5, 'not_executed'],
  ['late', 0, 5, 'queued'],
  ['late', 1, 5, 'sending'],
] as const)('D6 %s, with %i open sends of %i: %s', (outcome, openSends, sends, state) => {
  expect(endedBy(outcome, { openSends, sends, sendsMax: 5 })).toBe(state);
});

test('R-034 revoked it is "not sent" only where nothing is open', () => {
  expect([0, 1].map((openSends) => refusedState({ openSends }))).toEqual(['not_sent', 'unknown']);
});
