import { expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import { type Situation, type Verdict, verdictOf, verdicts } from '../../receiver/index.ts';

// Catches: an order of precedence in which a refusal hides an effect, or a replay hides a reuse.

const digest = digestOf('this');
const other = digestOf('other');
const now = 1_000_000;

const fresh: Situation = {
  record: null,
  closed: null,
  fenceEpoch: null,
  digest,
  token: { epoch: 2, number: 3 },
  firstSentAt: now,
  now,
  retentionMs: 10_000,
  clockSkewMs: 100,
  claimLeaseMs: 500,
  served: true,
  takeover: false,
  inputProblem: null,
};

const record = (
  state: NonNullable<Situation['record']>['state'],
  of = digest,
  changedAt = now,
) => ({
  record: { state, digest: of, changedAt },
});
const refusedAnyway = { closed: { through: null }, fenceEpoch: 9, served: false };

const rows: readonly (readonly [Verdict, string, Partial<Situation>])[] = [
  ['key_reused', 'another payload, executed', record('executed', other)],
  ['key_reused', 'another payload, at work', record('processing', other)],
  ['key_reused', 'another payload, closed', { ...record('not_executed', other), ...refusedAnyway }],
  [
    'replay_executed',
    'executed, now closed and fenced',
    { ...record('executed'), ...refusedAnyway },
  ],
  [
    'replay_rejected',
    'rejected, now closed and fenced',
    { ...record('rejected'), ...refusedAnyway },
  ],
  ['in_progress', 'claimed within the lease', { ...record('processing', digest, now - 499) }],
  ['unknown', 'claimed, lease over', record('processing', digest, now - 500)],
  ['unknown', 'did not report', record('unknown')],
  [
    'unknown',
    'lease over, takeover possible but closed',
    { ...record('unknown'), takeover: true, closed: { through: { epoch: 2, number: 3 } } },
  ],
  [
    'unknown',
    'lease over, takeover possible but fenced',
    { ...record('unknown'), takeover: true, fenceEpoch: 3 },
  ],
  ['closed', 'the same token', { closed: { through: { epoch: 2, number: 3 } } }],
  ['closed', 'an older number', { closed: { through: { epoch: 2, number: 4 } } }],
  ['closed', 'an older epoch', { closed: { through: { epoch: 3, number: 1 } } }],
  ['closed', 'the whole key', { closed: { through: null }, fenceEpoch: 9 }],
  ['closed', 'no token to compare', { closed: { through: { epoch: 1, number: 1 } }, token: null }],
  ['fenced', 'an older epoch than the scope', { fenceEpoch: 3 }],
  ['from_the_future', 'beyond the skew', { firstSentAt: now + 101 }],
  ['outside_window', 'at the lifetime less the skew', { firstSentAt: now - 9_900 }],
  ['unsupported', 'not served', { served: false, inputProblem: 'no' }],
  ['input_invalid', 'the input is refused', { inputProblem: 'no' }],
  ['execute', 'new', {}],
  ['execute', 'one before the end of the window', { firstSentAt: now - 9_899 }],
  ['execute', 'ahead by the skew', { firstSentAt: now + 100 }],
  ['execute', 'a later number than closed', { closed: { through: { epoch: 2, number: 2 } } }],
  ['execute', 'a later epoch than closed', { closed: { through: { epoch: 1, number: 9 } } }],
  ['execute', 'the epoch of the fence', { fenceEpoch: 2 }],
  ['execute', 'a lost claim that may be taken over', { ...record('unknown'), takeover: true }],
  ['execute', 'known not executed before', record('not_executed')],
];

test.each(rows)('verdict %s: %s', (verdict, _condition, at) => {
  expect(verdictOf({ ...fresh, ...at })).toBe(verdict);
});

test('the rows above cover each verdict, in the order of the list', () => {
  const inRows = [...new Set(rows.map(([verdict]) => verdict))];
  expect(inRows).toEqual(verdicts.map(([verdict]) => verdict));
});
