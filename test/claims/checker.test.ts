// A checker that finds nothing agrees with everybody. Each kind of lie is planted in a story that
// is true otherwise, and has to be the one that is found.

import { expect, test } from 'vitest';
import { type Checked, type Claim, type Effect, violationsOf } from './checker.ts';

const claim = (op: string, said: Claim['said'], by = 'ledger'): Claim => ({ op, said, by });
const effect = (op: string, key: string | null = `key of ${op}`): Effect => ({ op, key });

/** Each word where it is true; an unknown with and without its effect. */
const truth: Checked = {
  ops: ['done', 'not done', 'open', 'open and done', 'in part', 'mailed'],
  claims: [
    claim('done', 'executed'),
    claim('done', 'executed', 'result'),
    claim('not done', 'not_executed'),
    claim('open', 'unknown'),
    claim('open and done', 'unknown'),
    claim('in part', 'partial'),
    claim('mailed', 'executed'),
  ],
  effects: [effect('done'), effect('open and done'), effect('in part'), effect('mailed', null)],
};

const without = ({ effects }: Checked, op: string) => effects.filter((each) => each.op !== op);
const unsaid = ({ claims }: Checked, op: string) => claims.filter((each) => each.op !== op);

test('D.4 what is true of every operation is no violation', () => {
  expect(violationsOf(truth)).toEqual([]);
});

test.each<[string, Partial<Checked>, readonly string[]]>([
  [
    'executed without an effect',
    { effects: without(truth, 'mailed') },
    ['executed_without_effect mailed'],
  ],
  [
    'executed with two effects',
    { effects: [...truth.effects, effect('mailed', null)] },
    ['executed_more_than_once mailed', 'more_than_one_effect mailed'],
  ],
  [
    'not executed with one effect',
    { effects: [...truth.effects, effect('not done')] },
    ['not_executed_with_effect not done'],
  ],
  [
    'unknown with two effects',
    { effects: [...truth.effects, effect('open'), effect('open')] },
    ['more_than_one_effect open'],
  ],
  [
    'partial without an effect',
    { effects: without(truth, 'in part') },
    ['partial_without_effect in part'],
  ],
  ['an operation that nothing is said of', { claims: unsaid(truth, 'open') }, ['lost open']],
  [
    'an operation that nothing is said of, and that had its effect',
    { claims: unsaid(truth, 'open and done') },
    ['lost open and done'],
  ],
  [
    'an effect that nobody asked for',
    { effects: [...truth.effects, effect('another')] },
    ['unclaimed_effect another'],
  ],
  [
    'the same effect under two keys',
    { effects: [...truth.effects, effect('open and done', 'another key')] },
    ['more_than_one_effect open and done', 'two_keys open and done'],
  ],
  [
    'one of two that speak of the same operation',
    { claims: [...truth.claims, claim('done', 'not_executed', 'result')] },
    ['not_executed_with_effect done'],
  ],
])('D.4 found among what is true: %s', (_, planted, found) => {
  const violations = violationsOf({ ...truth, ...planted });
  expect(violations.map(({ kind, op }) => `${kind} ${op}`)).toEqual(found);
});
