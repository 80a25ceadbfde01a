import { describe, expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import { performReplyOf } from '../../core/perform-reply.ts';

const digest = digestOf({ n: 11 });
const reply = {
  verdict: 'entered',
  detail: null,
  outcome: {
    kind: 'executed',
    actionId: 'r.t1.c1',
    digest,
    result: { digest, bytes: 3 },
    externalId: 'ext-1',
    calls: [],
  },
  settled: 'executed',
  retryAfterMs: null,
  authority: { epoch: 1, revisions: { goal: 1, auth: 1 }, revoked: false, canceled: false },
  pin: { id: 'ledger-1', incarnation: 0, head: { count: 3, hash: digest } },
};

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

test.each([
  ['without a value', reply],
  ['with a value', { ...reply, value: { n: 11 } }],
  ['of a refusal', { ...reply, verdict: 'revoked', outcome: null, settled: null }],
  [
    'that asks for an approval',
    {
      ...reply,
      verdict: 'approval_missing',
      outcome: null,
      settled: null,
      asks: { bound: digest, validForMs: null, versions: { object: 'v1' } },
    },
  ],
  [
    'that has another action to wait for',
    {
      ...reply,
      verdict: 'twin_unknown',
      outcome: null,
      settled: null,
      waits: { actionId: 'r.t2.c1', recordVersion: 4 },
    },
  ],
  ['with a wait', { ...reply, settled: 'not_taken', retryAfterMs: 250 }],
])('a reply %s is read as it is', (_what, raw) => {
  expect(performReplyOf(raw, 'r.t1.c1')).toEqual(raw);
});

describe('what somebody completed the activity with is no reply: the ledger is asked', () => {
  test.each([
    ['nothing', undefined],
    ['a word', 'done'],
    ['a bare status', { status: 'executed' }],
    ['a verdict nobody knows', { ...reply, verdict: 'fine' }],
    ['an outcome without its digest', { ...reply, outcome: { kind: 'executed', actionId: 'a' } }],
    ['no ledger', { ...reply, pin: null }],
    ['a wait back in time', { ...reply, retryAfterMs: -1 }],
    [
      'the outcome of another action',
      { ...reply, outcome: { ...reply.outcome, actionId: 'r.t1.c2' } },
    ],
    ['no authority', { ...reply, authority: undefined }],
    ['another value than was recorded', { ...reply, value: { n: 12 } }],
    ['a value of nothing', { ...reply, outcome: null, value: null }],
    ['a value without a bottom', { ...reply, value: nested(50_000) }],
  ])('%s', (_what, raw) => {
    expect(performReplyOf(raw, 'r.t1.c1')).toBeNull();
  });
});
