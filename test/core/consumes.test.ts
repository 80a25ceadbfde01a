import { expect, test } from 'vitest';
import { genesisBase, pairOf, rolledOf } from '../../core/consumes.ts';
import { digestOf } from '../../core/digest.ts';
import { consumesSchema } from '../../core/fact-fields.ts';
import { limits } from '../../core/limits.ts';
import type { Outcome } from '../../core/outcome.ts';

const actionId = 'r.t1.c1';
const digest = digestOf('outcome');
const result = { digest, bytes: 2 };
const externalId = 'ext-1';

const rows: [Outcome, string][] = [
  [{ kind: 'executed', actionId, digest, result, externalId, calls: [] }, digest],
  [{ kind: 'executed_result_missing', actionId, digest, reason: 'lost', externalId }, digest],
  [{ kind: 'partial', actionId, digest, parts: [], externalId }, digest],
  [{ kind: 'not_executed', actionId, digest, reason: 'refused', message: 'no' }, digest],
  [
    { kind: 'not_executed', actionId, digest: null, reason: 'revoked', message: '' },
    'not_executed',
  ],
  [{ kind: 'accepted', actionId, externalId }, 'open'],
  [{ kind: 'unknown', actionId, reason: 'no reply', abandoned: false }, 'open'],
  [{ kind: 'unknown', actionId, reason: 'given up', abandoned: true }, 'open'],
];

test.each(rows)('an outcome %j is consumed as %s', (outcome, consumed) => {
  expect(pairOf(outcome)).toEqual({ actionId, outcome: consumed });
});

test('what was received before rolls into one digest that tells every difference', () => {
  const base = genesisBase('r');
  const pair = { actionId, outcome: digest } as const;
  const digests = [
    base,
    genesisBase('r2'),
    rolledOf({ base, pairs: [] }),
    rolledOf({ base, pairs: [pair] }),
    rolledOf({ base, pairs: [{ ...pair, outcome: 'open' }] }),
    rolledOf({ base, pairs: [{ ...pair, actionId: 'r.t1.c2' }] }),
    rolledOf({ base: rolledOf({ base, pairs: [pair] }), pairs: [] }),
  ];
  expect(new Set(digests).size).toBe(digests.length);
});

test('one attempt consumes a limited number of pairs, so that its record stays small', () => {
  const pairs = (count: number) =>
    Array.from({ length: count }, () => ({ actionId, outcome: 'open' }));
  const base = genesisBase('r');
  const accepts = (count: number) =>
    consumesSchema.safeParse({ base, pairs: pairs(count) }).success;
  expect([accepts(limits.consumesPairsMax), accepts(limits.consumesPairsMax + 1)]).toEqual([
    true,
    false,
  ]);
});
