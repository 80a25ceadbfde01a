// INV-1 and INV-2 of `workflows/consumption.ts`.

import { expect, test } from 'vitest';
import { genesisBase, rolledOf } from '../../core/consumes.ts';
import { digestOf } from '../../core/digest.ts';
import type { Outcome } from '../../core/outcome.ts';
import { consumptionFrom } from '../../workflows/consumption.ts';

const genesis = genesisBase('r');
const executed = (actionId: string): Outcome => ({
  kind: 'executed',
  actionId,
  digest: digestOf(actionId),
  result: { digest: digestOf('x'), bytes: 1 },
  externalId: null,
  calls: [],
});
const unknown = (actionId: string): Outcome => ({
  kind: 'unknown',
  actionId,
  reason: 'x',
  abandoned: false,
});
const idsOf = (pairs: readonly { actionId: string }[]) => pairs.map((pair) => pair.actionId);

test('INV-1 the first attempt builds on the genesis, the next on the first’s digest', () => {
  const consumption = consumptionFrom(genesis);
  const first = consumption.decide();
  expect(first.consumes).toEqual({ base: genesis, pairs: [] });
  consumption.entered(first);
  consumption.receive(executed('a'));
  const second = consumption.decide();
  expect(second.consumes.base).toBe(rolledOf(first.consumes));
  expect(idsOf(second.consumes.pairs)).toEqual(['a']);
});

test('an attempt that never entered moves nothing: what was received is stated again', () => {
  const consumption = consumptionFrom(genesis);
  consumption.receive(executed('a'));
  consumption.decide();
  consumption.receive(executed('b'));
  expect(idsOf(consumption.decide().consumes.pairs)).toEqual(['a', 'b']);
  expect(consumption.decide().consumes.base).toBe(genesis);
});

test('INV-2 siblings of a batch consume the same, whatever came back meanwhile', () => {
  const consumption = consumptionFrom(genesis);
  consumption.receive(executed('m'));
  const batch = consumption.decide();
  consumption.entered(batch);
  consumption.receive(executed('c1'));
  consumption.entered(batch);
  consumption.receive(executed('c2'));
  const next = consumption.decide();
  expect(next.consumes.base).toBe(rolledOf(batch.consumes));
  expect(idsOf(next.consumes.pairs)).toEqual(['c1', 'c2']);
});

test('an older decision that enters late does not move the base back', () => {
  const consumption = consumptionFrom(genesis);
  const early = consumption.decide();
  consumption.receive(executed('a'));
  const late = consumption.decide();
  consumption.entered(late);
  consumption.entered(early);
  expect(consumption.decide().consumes.base).toBe(rolledOf(late.consumes));
});

test('of a recorded attempt the recorded digest is taken, not one computed anew', () => {
  const consumption = consumptionFrom(genesis);
  const recorded = digestOf('as recorded');
  consumption.entered(consumption.decide(), recorded);
  expect(consumption.decide().consumes.base).toBe(recorded);
});

test('what was received as open and is settled later replaces itself', () => {
  const consumption = consumptionFrom(genesis);
  consumption.receive(unknown('a'));
  const decided = consumption.decide();
  expect(decided.consumes.pairs).toEqual([{ actionId: 'a', outcome: 'open' }]);
  expect(consumption.open()).toEqual(['a']);
  consumption.receive(executed('a'));
  expect(consumption.open()).toEqual([]);
  const pairs = [{ actionId: 'a', outcome: digestOf('a') }];
  expect(consumption.refreshed(decided).consumes.pairs).toEqual(pairs);
  expect(consumption.decide().consumes.pairs).toEqual(pairs);
});
