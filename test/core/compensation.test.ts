// What a compensation leaves behind. Would catch a link that is not written, an original that is
// changed by it, and a compensation in doubt that is taken for done.

import { expect, test } from 'vitest';
import { outcomeOf } from '../../core/action-status.ts';
import { genesisBase, rolledOf } from '../../core/consumes.ts';
import type { EntryAsk } from '../../core/gate.ts';
import { ACTION, enter, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { actionOf, doubt, inquire, inTurn, keyed, openAndEnter } from '../support/story.ts';

type Tell = (ledger: MemoryLedger) => unknown;
const UNDO = 'r.t2.c1';
const consumes = { base: rolledOf({ base: genesisBase(RUN), pairs: [] }), pairs: [] };
const undoing: Partial<EntryAsk> = {
  ...keyed,
  ...{ actionId: UNDO, attemptId: `${UNDO}~1`, compensates: ACTION, consumes },
};
const at = (object: string) => ({ ...undoing, versions: { object } });
const executed: Tell = (l) => inTurn(openAndEnter(l), settle(l, { objectVersion: 'v2' }));
const jobDone: Tell = (l) =>
  inTurn(
    openAndEnter(l),
    settle(l, { outcome: 'accepted' }),
    inquire(l, { verdict: 'executed', objectVersion: 'v2' }),
  );
const jobDoneLate: Tell = (l) =>
  inTurn(openAndEnter(l), settle(l, { outcome: 'accepted' }), settle(l, { objectVersion: 'v2' }));

test.each<[string, Tell, string | null]>([
  ['an attempt', executed, 'v2'],
  ['the end of an accepted job', jobDone, 'v2'],
  ['the late result of an accepted job', jobDoneLate, 'v2'],
  [
    'an attempt that did a part',
    (l) => inTurn(openAndEnter(l), settle(l, { outcome: 'partial', objectVersion: 'v2' })),
    'v2',
  ],
  ['nobody', (l) => inTurn(openAndEnter(l), settle(l)), null],
])('R-119 it is linked to its original, at the version that %s told', (_who, tell, version) => {
  const ledger = memoryLedger();
  tell(ledger);
  const original = actionOf(ledger);
  expect(enter(ledger, undoing).verdict).toBe('entered');
  const { entry } = actionOf(ledger, UNDO).attempts[0] ?? {};
  expect(entry?.compensates).toEqual({ actionId: ACTION, objectVersion: version });
  expect(actionOf(ledger)).toEqual(original);
});

test.each<[string, Tell]>([
  ['an accepted job', jobDone],
  ['an action', executed],
])('R-119 it is refused once the object of %s has another version', (_what, tell) => {
  const ledger = memoryLedger();
  tell(ledger);
  expect(enter(ledger, at('v3'))).toMatchObject({
    verdict: 'object_changed',
    detail: `${ACTION} left it at v2; it is v3 now`,
  });
});

test('D9 another version told at the end of an accepted job is a second effect', () => {
  const ledger = memoryLedger();
  jobDone(ledger);
  settle(ledger, { objectVersion: 'v9' });
  expect(actionOf(ledger).disputed).toBe(true);
});

test('R-120 in doubt it is an unknown like any other, and its original stays finished', () => {
  const ledger = memoryLedger();
  executed(ledger);
  const before = outcomeOf(actionOf(ledger));
  enter(ledger, undoing);
  doubt(ledger, `${UNDO}~1`);
  expect(outcomeOf(actionOf(ledger, UNDO))).toBeNull();
  expect(outcomeOf(actionOf(ledger))).toEqual(before);
  const third = { actionId: 'r.t3.c1', attemptId: 'r.t3.c1~1', compensates: UNDO };
  expect(enter(ledger, { ...undoing, ...third }).verdict).toBe('compensates_open');
});

test('R-120 what did not have its effect undoes nothing: its original stays finished', () => {
  const ledger = memoryLedger();
  executed(ledger);
  enter(ledger, undoing);
  settle(ledger, { actionId: UNDO, attemptId: `${UNDO}~1`, outcome: 'refused' });
  expect(outcomeOf(actionOf(ledger))?.kind).toBe('executed');
  expect(outcomeOf(actionOf(ledger, UNDO))?.kind).toBe('not_executed');
});
