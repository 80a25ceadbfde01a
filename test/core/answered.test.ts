import { expect, test } from 'vitest';
import type { InquireReply } from '../../core/activity-calls.ts';
import { type Answer, answerIn, lasting } from '../../core/answered.ts';
import { digestOf } from '../../core/digest.ts';
import type { Outcome } from '../../core/outcome.ts';

const actionId = 'invoice-42.t1.c1';
const digest = digestOf('x');
const missing: Outcome = {
  kind: 'executed_result_missing',
  actionId,
  digest,
  reason: 'lost',
  externalId: null,
};
const so: Outcome = { kind: 'not_executed', actionId, digest: null, reason: 'x', message: 'x' };
const refused: Outcome = { ...so, digest };
const accepted: Outcome = { kind: 'accepted', actionId, externalId: 'J-1' };
const abandoned: Outcome = { kind: 'unknown', actionId, reason: 'a person', abandoned: true };

const reply = (over: Partial<InquireReply>): InquireReply => ({
  outcome: null,
  openAttempts: [],
  permitted: false,
  disputed: false,
  abandoned: false,
  recordVersion: 3,
  verdict: null,
  canAsk: true,
  question: null,
  authority: { epoch: 1, revisions: { goal: 1, auth: 1 }, revoked: false, canceled: false },
  pin: { id: 'l', incarnation: 0, head: { count: 3, hash: digest } },
  ...over,
});
const open = ['a~1'];

test.each<[Answer, string, Partial<InquireReply>]>([
  ['open', 'an attempt is open', { openAttempts: open }],
  ['open', 'an attempt is open beside one that was not sent', { openAttempts: open, outcome: so }],
  ['open', 'the receiver works on it', {}],
  ['open', 'accepted', { outcome: accepted }],
  [
    'settled',
    'final by a person, its attempt never settled',
    { openAttempts: open, outcome: missing },
  ],
  ['settled', 'refused', { outcome: refused }],
  ['settled', 'nothing open, nothing executed', { outcome: so }],
  ['permitted', 'a permit after an end', { permitted: true, outcome: so }],
  ['abandoned', 'abandoned', { abandoned: true, openAttempts: open, outcome: abandoned }],
  ['disputed', 'two outcomes', { disputed: true, outcome: missing, permitted: true }],
])('%s: %s', (expected, _what, over) => {
  expect(answerIn(reply(over))).toBe(expected);
});

test('only what stays is lasting', () => {
  expect([null, so, accepted].map(lasting)).toEqual([null, null, null]);
  expect([missing, refused, abandoned].map(lasting)).toEqual([missing, refused, abandoned]);
});
