// every sequence of facts up to a small length, against an oracle that knows only words.
// The oracle is written from the design's sentences and shares no code with the rules or the fold.

import { expect, test } from 'vitest';
import { outcomeOf, wordOf } from '../../core/action-status.ts';
import { axesOf } from '../../core/axes.ts';
import { factProblem } from '../../core/fact-rules.ts';
import type { FactBody } from '../../core/facts.ts';
import { open, RUN, settle } from '../support/asks.ts';
import { bodies } from '../support/fact-bodies.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { openAndEnter } from '../support/story.ts';

const LENGTH = 6;

const letters = ['open', 'enter', 'executed', 'refused', 'doubt', 'deny', 'revoke', 'end'] as const;
type Letter = (typeof letters)[number];

const opened = () => {
  const ledger = memoryLedger();
  open(ledger);
  return ledger;
};
const entered = () => {
  const ledger = memoryLedger();
  openAndEnter(ledger);
  return ledger;
};

const written = {
  open: bodies.run_opened(memoryLedger()),
  enter: bodies.attempt_entered(opened()),
  executed: bodies.attempt_settled(entered()),
  refused: bodies.attempt_settled(entered(), { outcome: 'refused' }),
  doubt: bodies.action_in_doubt(entered()),
  deny: bodies.resolution(entered(), 'confirm_not_executed'),
  end: bodies.run_ended(opened()),
};

/** Facts that were right at some moment, tried at every moment. */
const makers: { readonly [L in Letter]: (ledger: MemoryLedger) => FactBody } = {
  open: () => written.open,
  enter: () => written.enter,
  executed: () => written.executed,
  refused: () => written.refused,
  doubt: () => written.doubt,
  deny: (ledger) => ({
    ...written.deny,
    commandId: `deny-${ledger.facts(RUN).length}`,
    recordVersion: 1,
  }),
  revoke: (ledger) => ({
    ...bodies.authority_changed(ledger),
    commandId: `revoke-${ledger.facts(RUN).length}`,
  }),
  end: (ledger) => ({
    ...written.end,
    end: { kind: 'stopped', reason: 'blocked' },
    openUnknowns: unknownWord(ledger) ? [...ledger.run(RUN).actions.keys()] : [],
  }),
};

function unknownWord(ledger: MemoryLedger): boolean {
  return expectedOf(words.get(ledger) ?? []).effect === 'unknown';
}
const words = new WeakMap<MemoryLedger, readonly Letter[]>();

/** What ARCHITECTURE says in words about one action with one attempt. */
function isLegal(before: readonly Letter[], next: Letter): boolean {
  const has = (letter: Letter) => before.includes(letter);
  const settled = has('executed') || has('refused');
  switch (next) {
    case 'open':
      return !has('open') && !has('revoke');
    case 'enter':
      return has('open') && !has('enter') && !has('revoke') && !has('end');
    case 'executed':
    case 'refused':
      return has('enter') && !settled;
    case 'doubt':
      return has('enter') && !settled && !has('deny');
    case 'deny':
      return has('enter');
    case 'revoke':
      return true;
    case 'end':
      return has('open') && !has('end');
  }
}

function expectedOf(before: readonly Letter[]): {
  word: string;
  effect: string;
  disputed: boolean;
} {
  const at = (letter: Letter) => before.indexOf(letter);
  const has = (letter: Letter) => at(letter) >= 0;
  const disputed = has('executed') && has('deny');
  if (has('executed')) return { word: 'finished', effect: 'complete', disputed };
  if (has('refused')) return { word: 'finished', effect: 'none', disputed };
  if (has('deny') || !has('enter')) return { word: 'not submitted', effect: 'none', disputed };
  return { word: has('doubt') ? 'unknown' : 'running', effect: 'unknown', disputed };
}

function replayed(sequence: readonly Letter[]): MemoryLedger {
  const ledger = memoryLedger();
  const seen: Letter[] = [];
  words.set(ledger, seen);
  for (const letter of sequence) {
    ledger.write(RUN, { source: 'history', body: makers[letter](ledger) });
    seen.push(letter);
  }
  return ledger;
}

test('R-063 every legal sequence is rebuilt and every illegal one is refused', () => {
  let legal: Letter[][] = [[]];
  let judged = 0;
  for (let length = 1; length <= LENGTH; length++) {
    const longer: Letter[][] = [];
    for (const before of legal) {
      const ledger = replayed(before);
      for (const letter of letters) {
        const fact = { source: 'history', body: makers[letter](ledger) } as const;
        const holds = factProblem(ledger.run(RUN), fact) === null;
        expect([...before, letter, holds]).toEqual([...before, letter, isLegal(before, letter)]);
        judged += 1;
        if (holds) longer.push([...before, letter]);
      }
      agrees(ledger, before);
    }
    legal = longer;
  }
  expect(judged).toBeGreaterThan(1_000);
});

function agrees(ledger: MemoryLedger, before: readonly Letter[]): void {
  const action = [...ledger.run(RUN).actions.values()][0];
  if (action === undefined) return;
  const { effect, disputed } = axesOf(ledger.run(RUN), action);
  expect([before, { word: wordOf(action), effect, disputed }]).toEqual([
    before,
    expectedOf(before),
  ]);
  expect(outcomeOf(action) === null).toBe(effect === 'unknown');
}

test('R-054 a result without intent is refused in every prefix without its entry', () => {
  const ledger = memoryLedger();
  const orphan = makers.executed(ledger);
  for (const letter of ['revoke', 'open', 'end'] as const) {
    if (letter === 'open') open(ledger);
    else if (letter === 'end') ledger.write(RUN, { source: 'history', body: makers.end(ledger) });
    const problem = factProblem(ledger.run(RUN), { source: 'execution', body: orphan });
    expect(problem).toBe('result without intent');
  }
  expect(settle(ledger)).toEqual({ kind: 'orphan' });
});
