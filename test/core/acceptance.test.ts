// Catches: a judgement that outlives the version it was about, or an effect that counts as accepted
// because something else was.

import { describe, expect, test } from 'vitest';
import { acceptanceOf } from '../../core/acceptance.ts';
import type { SettlementKind } from '../../core/fact-fields.ts';
import type { EntryAsk } from '../../core/gate.ts';
import type { SettleAsk } from '../../core/settle.ts';
import { binding, enter, open, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { inquire, observationOf, resolve, safe } from '../support/story.ts';

type Step = (ledger: MemoryLedger, actionId: string) => void;

const act =
  (entry: Partial<EntryAsk>, said: Partial<SettleAsk>): Step =>
  (ledger, actionId) => {
    const attemptId = `${actionId}~1`;
    const { verdict } = enter(ledger, { ...entry, actionId, attemptId, entryToken: attemptId });
    if (verdict !== 'entered') throw new Error(`${actionId}: ${verdict}`);
    settle(ledger, { actionId, attemptId, ...said });
  };
const write = (version: string | null, over: Partial<SettleAsk> = {}) =>
  act({}, { externalId: 'a.ts', objectVersion: version, ...over });
const judge = (
  version: string,
  verdict: 'accepted' | 'rejected' = 'accepted',
  { by = 'run_tests', object = 'a.ts' } = {},
) =>
  act(
    { ...safe, binding: { ...binding, tool: by } },
    { externalId: null, evaluates: [{ object, objectVersion: version, verdict }] },
  );
const look = (version: string) => act(safe, { externalId: 'a.ts', objectVersion: version });
const elsewhere = (version: string) =>
  act({ domain: 'other/disk' }, { externalId: 'a.ts', objectVersion: version });
const settled = (outcome: SettlementKind, over: Partial<SettleAsk> = {}) =>
  act({}, { outcome, externalId: 'a.ts', result: null, ...over });
const rejectedBy = (by: string, version = 'h1') => judge(version, 'rejected', { by });
const acceptedBy = (by: string, version = 'h1') => judge(version, 'accepted', { by });
const noted =
  (objectVersion: string | null, over: object = {}): Step =>
  (ledger) => {
    const body = observationOf({ externalId: 'a.ts', objectVersion, actionId: idOf(1), ...over });
    ledger.write(RUN, { source: 'object_observation', body });
  };
/** Left open, then found by asking. */
const lost =
  (version: string, externalId: string | null = 'a.ts'): Step =>
  (ledger, actionId) => {
    const attemptId = `${actionId}~1`;
    enter(ledger, { actionId, attemptId, entryToken: attemptId });
    inquire(ledger, { actionId, verdict: 'executed', externalId, objectVersion: version });
  };
/** Left open, then answered by a person, who names no version. */
const answered =
  (externalId: string): Step =>
  (ledger, actionId) => {
    const attemptId = `${actionId}~1`;
    enter(ledger, { actionId, attemptId, entryToken: attemptId });
    const { recordVersion } = ledger.run(RUN).actions.get(actionId) ?? { recordVersion: 1 };
    resolve(ledger, { verb: 'confirm_executed', actionId, recordVersion, externalId });
  };

const idOf = (step: number) => `${RUN}.t${step}.c1`;

function acceptances(...steps: readonly Step[]): string[] {
  const ledger = memoryLedger();
  open(ledger);
  for (const [index, step] of steps.entries()) step(ledger, idOf(index + 1));
  const run = ledger.run(RUN);
  return [...run.actions.values()].map((action) => acceptanceOf(run, action));
}

const [none, yes, no] = ['not_evaluated', 'accepted', 'rejected'];

describe('R-129 the acceptance of an effect', () => {
  test.each<[string, Step[], (string | undefined)[]]>([
    ['written', [write('h1')], [none]],
    ['written and checked', [write('h1'), judge('h1')], [yes, none]],
    ['written and rejected', [write('h1'), judge('h1', 'rejected')], [no, none]],
    ['formatted after the check', [write('h1'), judge('h1'), write('h2')], [none, none, none]],
    [
      'checked again after it was formatted',
      [write('h1'), judge('h1'), write('h2'), judge('h2')],
      [none, none, yes, none],
    ],
    [
      'checked by a check that had read it before it was formatted',
      [write('h1'), write('h2'), judge('h1')],
      [none, none, none],
    ],
    ['written again the same', [write('h1'), judge('h1'), write('h1')], [yes, none, yes]],
    [
      'put back to what was checked, after another version',
      [write('h1'), judge('h1'), write('h2'), write('h1')],
      [none, none, none, none],
    ],
    [
      'put back, and checked again: the newest of the two writes',
      [write('h1'), write('h2'), write('h1'), judge('h1')],
      [none, none, yes, none],
    ],
    ['reviewed as it was then written', [judge('h1'), write('h1')], [none, yes]],
    ['found changed by a look', [write('h1'), judge('h1'), look('h2')], [none, none, none]],
    [
      'found changed by a look, and checked as it was written',
      [write('h1'), look('h2'), judge('h1')],
      [yes, none, none],
    ],
    ['found as it was', [write('h1'), judge('h1'), look('h1')], [yes, none, none]],
    ['found changed by a note', [write('h1'), judge('h1'), noted('h2')], [none, none]],
    ['noted without a version', [write('h1'), judge('h1'), noted(null)], [yes, none]],
    ['judged as changed by the check', [write('h1'), judge('h1'), judge('h2')], [none, none, none]],
    ['changed by a lost write', [write('h1'), judge('h1'), lost('h2')], [none, none, none]],
    ['found by asking, and checked', [lost('h1'), judge('h1')], [yes, none]],
    ['found by asking, without its name', [lost('h1', null), judge('h1')], [none, none]],
    [
      'changed by what a person confirmed',
      [write('h1'), judge('h1'), answered('a.ts')],
      [none, none, none],
    ],
    ['untouched by it', [write('h1'), judge('h1'), answered('b.ts')], [yes, none, none]],
    ['changed to nobody knows what', [write('h1'), judge('h1'), write(null)], [none, none, none]],
    [
      'changed twice to nobody knows what, then as checked',
      [write('h1'), write(null), write(null), judge('h1'), write('h1')],
      [none, none, none, none, yes],
    ],
    ['half changed', [write('h1'), judge('h1'), settled('partial')], [none, none, none]],
    ['about to be changed', [write('h1'), judge('h1'), settled('accepted')], [none, none, none]],
    [
      'left alone by a refused change',
      [write('h1'), judge('h1'), settled('refused')],
      [yes, none, none],
    ],
    ['without a name', [write('h1', { externalId: null }), judge('h1')], [none, none]],
    ['without a version', [write(null), judge('h1')], [none, none]],
    ['of a look itself', [look('h1'), judge('h1')], [none, none]],
    ['of another object', [write('h1'), judge('h1', 'accepted', { object: 'b.ts' })], [none, none]],
  ])('%s', (_what, steps, expected) => {
    expect(acceptances(...steps)).toEqual(expected);
  });

  test.each<[string, Step[], string | undefined]>([
    ['one that rejects stands beside one that accepts', [rejectedBy('a'), acceptedBy('b')], no],
    ['in whatever order', [acceptedBy('b'), rejectedBy('a')], no],
    ['until it accepts', [rejectedBy('a'), acceptedBy('b'), acceptedBy('a')], yes],
    ['one that accepted may reject', [acceptedBy('a'), rejectedBy('a')], no],
    [
      'one that judged an earlier version is missed',
      [acceptedBy('a', 'h0'), acceptedBy('b')],
      none,
    ],
    ['one that rejected an earlier one, too', [rejectedBy('a', 'h0'), acceptedBy('b')], none],
    ['a rejection needs no other', [acceptedBy('a', 'h0'), rejectedBy('b')], no],
  ])('several checks: %s', (_what, judgements, expected) => {
    expect(acceptances(write('h1'), ...judgements)[0]).toBe(expected);
  });

  test('one check may judge several objects, and one twice: then both have to hold', () => {
    const of = (object: string, objectVersion: string) =>
      ({ object, objectVersion, verdict: 'accepted' }) as const;
    const check = (...evaluates: SettleAsk['evaluates'] & object) =>
      act(safe, { externalId: null, evaluates });
    const both = [write('h1'), write('k1', { externalId: 'b.ts' })];
    expect(acceptances(...both, check(of('a.ts', 'h1'), of('b.ts', 'k1')))).toEqual([
      yes,
      yes,
      none,
    ]);
    expect(acceptances(...both, check(of('a.ts', 'h1'), of('a.ts', 'h0')))[0]).toBe(none);
  });

  test('of two domains with one name neither counts as judged', () => {
    expect(acceptances(write('h1'), elsewhere('h1'), judge('h1'))).toEqual([none, none, none]);
    expect(acceptances(elsewhere('h1'), judge('h1'))).toEqual([yes, none]);
  });

  test('what is disputed is not accepted', () => {
    const second = noted('h1', { about: 'second_effect', attemptId: `${idOf(1)}~9` });
    expect(acceptances(write('h1'), judge('h1'), second)[0]).toBe(none);
  });

  test('an orphan of nobody’s changes its object', () => {
    const orphan = noted('h2', { about: 'orphan_result', attemptId: 'x', actionId: 'r.t9.c1' });
    expect(acceptances(write('h1'), judge('h1'), orphan)[0]).toBe(none);
  });
});
