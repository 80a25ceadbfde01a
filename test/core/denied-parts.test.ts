// What is half done, or was taken on late, beside a word that nothing happened. Would catch parts
// that are on record and called "not executed", a late part that nobody is told of, and words on an
// outcome that are not so.

import { describe, expect, test } from 'vitest';
import { outcomeOf } from '../../core/action-status.ts';
import { genesisBase, rolledOf } from '../../core/consumes.ts';
import { outcomesSaid } from '../../core/dispute.ts';
import type { Part } from '../../core/fact-fields.ts';
import { ACTION, enter, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  again,
  contractOf,
  doubt,
  inquire,
  inTurn,
  keyed,
  openAndEnter,
  resolve,
} from '../support/story.ts';

type Tell = (ledger: MemoryLedger) => unknown;
const parts: Part[] = [{ name: 'file', state: 'confirmed' }];
const second = `${ACTION}~2`;
const UNDO = 'r.t2.c1';
const undoing = {
  ...keyed,
  ...{ actionId: UNDO, attemptId: `${UNDO}~1`, compensates: ACTION },
  consumes: { base: rolledOf({ base: genesisBase(RUN), pairs: [] }), pairs: [] },
};
const own = { ...keyed, continuing: 'own_protocol' } as const;
const half: Tell = (l) => inTurn(openAndEnter(l, own), settle(l, { outcome: 'partial', parts }));
const halfBeingGoneOn: Tell = (l) =>
  inTurn(half(l), enter(l, { ...own, ...again(), continues: true }), doubt(l, second));
const halfOfJob: Tell = (l) =>
  inTurn(
    openAndEnter(l, own),
    settle(l, { outcome: 'accepted', externalId: 'job-9' }),
    inquire(l, { verdict: 'partial', parts }),
  );
const closedTo = (closing: 'by_token' | 'by_key') => (l: MemoryLedger) =>
  inquire(l, {
    ...{ verdict: 'not_executed', contract: contractOf({ closing }) },
    proof: closing === 'by_key' ? 'closed_key' : 'closed_token',
  });
const denied: Tell = (l) =>
  resolve(l, { verb: 'confirm_not_executed', oldRequestCannotArrive: true });
const inDoubt: Tell = (l) => inTurn(openAndEnter(l, keyed), doubt(l));
const notTaken = { outcome: 'not_taken' } as const;
const refused: Tell = (l) => inTurn(openAndEnter(l, keyed), settle(l, { outcome: 'refused' }));

describe('D14 D9 parts that were confirmed', () => {
  test.each<[string, string, Tell, Tell]>([
    ['of an attempt', 'a closed token', half, closedTo('by_token')],
    ['of an attempt', 'a burnt key', half, closedTo('by_key')],
    ['of an attempt', 'a person', half, denied],
    ['that are gone on with', 'a closed token', halfBeingGoneOn, closedTo('by_token')],
    ['that are gone on with', 'a burnt key', halfBeingGoneOn, closedTo('by_key')],
    ['of an accepted job', 'a closed token', halfOfJob, closedTo('by_token')],
    ['of an accepted job', 'a burnt key', halfOfJob, closedTo('by_key')],
    ['of an accepted job', 'a person', halfOfJob, denied],
  ])('%s are not called nothing by %s: that is a dispute', (_of, _by, tell, deny) => {
    const ledger = memoryLedger();
    inTurn(tell(ledger), deny(ledger));
    const action = actionOf(ledger);
    expect(action).toMatchObject({ disputed: true, final: null });
    expect(outcomeOf(action)).toBeNull();
    const said = outcomesSaid(action).map(({ outcome }) => outcome);
    expect(said).toEqual(expect.arrayContaining([expect.stringMatching(/^partial/)]));
    expect(said).toContain('not_executed');
    expect(enter(ledger, undoing).verdict).toBe('disputed');
  });
});

describe('D9 after a word that nothing happened', () => {
  const late = { outcome: 'partial', parts } as const;
  test.each<[string, string, Tell, Tell]>([
    ['half an effect', 'a closed token', inDoubt, closedTo('by_token')],
    ['half an effect', 'a burnt key', inDoubt, closedTo('by_key')],
    ['half an effect', 'a person', inDoubt, denied],
    ['half an effect', 'a refusal', refused, () => {}],
    ['half an effect', 'an attempt that was not taken', inDoubt, (l) => settle(l, notTaken)],
  ])('%s that comes late, after %s, is a dispute', (_what, _after, tell, deny) => {
    const ledger = memoryLedger();
    inTurn(tell(ledger), deny(ledger), settle(ledger, late));
    expect(actionOf(ledger).disputed).toBe(true);
  });

  test.each<[string, Tell]>([
    ['a closed token', closedTo('by_token')],
    ['a burnt key', closedTo('by_key')],
    ['a person', denied],
  ])('that a receiver has it at work after all, after %s, is a dispute', (_after, deny) => {
    const ledger = memoryLedger();
    inTurn(inDoubt(ledger), deny(ledger));
    settle(ledger, { outcome: 'accepted', externalId: 'job-9' });
    expect(actionOf(ledger).disputed).toBe(true);
  });

  test('a later attempt of it may do a part, and may be taken on', () => {
    for (const outcome of ['partial', 'accepted'] as const) {
      const ledger = memoryLedger();
      inTurn(inDoubt(ledger), closedTo('by_token')(ledger), enter(ledger, { ...own, ...again() }));
      settle(ledger, { attemptId: second, outcome, parts: outcome === 'partial' ? parts : [] });
      expect(actionOf(ledger).disputed).toBe(false);
    }
  });
});

test('D9 the outcome says who stated that there was no effect, not that nothing entered', () => {
  const ledger = memoryLedger();
  inTurn(inDoubt(ledger), enter(ledger, { ...keyed, ...again() }), settle(ledger), denied(ledger));
  resolve(ledger, { verb: 'settle_dispute', states: 'not_executed' });
  expect(outcomeOf(actionOf(ledger))).toMatchObject({
    ...{ kind: 'not_executed', reason: 'not_executed' },
    message: 'a person stated that it had no effect',
  });
});

describe('R-119 D12 what was abandoned', () => {
  const abandoned: Tell = (l) => inTurn(inDoubt(l), resolve(l, { verb: 'abandon' }));

  test('is undone once its result came after all', () => {
    const ledger = memoryLedger();
    inTurn(abandoned(ledger), settle(ledger));
    expect(enter(ledger, undoing).verdict).toBe('entered');
  });

  test('has no effect to undo once the receiver said late that it refused it', () => {
    const ledger = memoryLedger();
    inTurn(abandoned(ledger), settle(ledger, { outcome: 'refused' }));
    expect(enter(ledger, undoing)).toMatchObject({
      ...{ verdict: 'nothing_to_compensate', detail: `${ACTION} had no effect` },
    });
  });

  test('is not undone while two late words on it contradict each other', () => {
    const ledger = memoryLedger();
    inTurn(abandoned(ledger), settle(ledger), denied(ledger));
    const ask = { ...undoing, onUnknown: 'continue' } as const;
    expect(enter(ledger, ask).verdict).toBe('compensates_open');
  });
});
