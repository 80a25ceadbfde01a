// The four axes, the six words and the outcome of an action, one story per state.

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FactualAxes,
  outcomeOf,
  type StatusWord,
  statusWords,
  wordOf,
} from '../../core/action-status.ts';
import { axesOf } from '../../core/axes.ts';
import { emptyRun } from '../../core/fold.ts';
import { ACTION, enter, open, payloadOf, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  again,
  change,
  contractOf,
  doubt,
  inquire,
  inTurn,
  keyed,
  later,
  observationOf,
  openAndEnter,
  rebuy,
  resolve,
  safe,
} from '../support/story.ts';

type Facts = readonly [FactualAxes['submission'], FactualAxes['execution'], FactualAxes['effect']];

interface Story {
  readonly when: string;
  readonly tell: (ledger: MemoryLedger) => void;
  readonly word: StatusWord;
  readonly axes: Facts;
  /** Kind of the outcome, and its reason; null while nothing is certain. */
  readonly outcome: string | null;
}

const stories: Story[] = [
  {
    when: 'the gate refused its only attempt',
    tell: (l) => {
      open(l);
      enter(l, { barrier: { kind: 'not_current', why: 'paused' } });
    },
    word: 'not submitted',
    axes: ['not_submitted', 'not_started', 'none'],
    outcome: 'not_executed: attempt_not_current: paused',
  },
  {
    when: 'its attempt was closed, and never entered',
    tell: (l) => {
      open(l);
      doubt(l);
    },
    word: 'not submitted',
    axes: ['not_submitted', 'not_started', 'none'],
    outcome: 'not_executed: closed_by_inquiry: no gate row: it never entered, and now never can',
  },
  {
    when: 'only a note is known of it',
    tell: (l) => {
      open(l);
      const body = observationOf({ about: 'orphan_result', attemptId: 'x' });
      l.write(RUN, { source: 'late_result', body });
    },
    word: 'not submitted',
    axes: ['not_submitted', 'not_started', 'none'],
    outcome: 'not_executed: not_submitted: no attempt entered',
  },
  {
    when: 'an attempt is at work',
    tell: (l) => openAndEnter(l),
    word: 'running',
    axes: ['maybe_submitted', 'running', 'unknown'],
    outcome: null,
  },
  {
    when: 'R-004 its reply was lost',
    tell: (l) => {
      openAndEnter(l);
      doubt(l);
    },
    word: 'unknown',
    axes: ['maybe_submitted', 'unknown', 'unknown'],
    outcome: null,
  },
  {
    when: 'nothing was sent',
    tell: (l) => {
      openAndEnter(l);
      settle(l, { outcome: 'not_sent' });
    },
    word: 'not submitted',
    axes: ['not_submitted', 'not_started', 'none'],
    outcome: 'not_executed: not_sent: nothing was sent',
  },
  {
    when: 'the receiver did not consider it',
    tell: (l) => {
      openAndEnter(l);
      settle(l, { outcome: 'not_taken' });
    },
    word: 'not submitted',
    axes: ['not_submitted', 'not_started', 'none'],
    outcome: 'not_executed: not_taken: no: declined',
  },
  {
    when: 'the receiver accepted it and goes on',
    tell: (l) => {
      openAndEnter(l);
      settle(l, { outcome: 'accepted' });
    },
    word: 'accepted',
    axes: ['accepted', 'running', 'unknown'],
    outcome: null,
  },
  {
    when: 'it was executed',
    tell: (l) => {
      openAndEnter(l);
      settle(l);
    },
    word: 'finished',
    axes: ['accepted', 'finished', 'complete'],
    outcome: 'executed',
  },
  {
    when: 'it was executed and the result is missing',
    tell: (l) => {
      openAndEnter(l);
      settle(l, { result: null, resultMissing: 'too big' });
    },
    word: 'finished',
    axes: ['accepted', 'finished', 'complete'],
    outcome: 'executed_result_missing: the result is missing',
  },
  {
    when: 'the receiver refused it',
    tell: (l) => {
      openAndEnter(l);
      settle(l, { outcome: 'refused' });
    },
    word: 'finished',
    axes: ['accepted', 'finished', 'none'],
    outcome: 'not_executed: refused: no: declined',
  },
  {
    when: 'R-013 half of it was done',
    tell: (l) => {
      openAndEnter(l);
      settle(l, { outcome: 'partial' });
    },
    word: 'partial',
    axes: ['accepted', 'finished', 'partial'],
    outcome: 'partial',
  },
  {
    when: 'R-013 half of it was done and the receiver can go on',
    tell: (l) => {
      openAndEnter(l, { continuing: 'own_protocol' });
      settle(l, { outcome: 'partial' });
    },
    word: 'partial',
    axes: ['accepted', 'finished', 'partial'],
    outcome: null,
  },
  {
    when: 'the receiver burnt its key',
    tell: (l) => {
      openAndEnter(l);
      const proof = { verdict: 'not_executed', proof: 'closed_key' } as const;
      inquire(l, { ...proof, contract: contractOf({ closing: 'by_key' }) });
    },
    word: 'not submitted',
    axes: ['not_submitted', 'not_started', 'none'],
    outcome: 'not_executed: not_executed: proved or stated to have had no effect',
  },
  {
    when: 'a person says that it was executed',
    tell: (l) => {
      openAndEnter(l);
      doubt(l);
      resolve(l, { verb: 'confirm_executed' });
    },
    word: 'finished',
    axes: ['accepted', 'finished', 'complete'],
    outcome: 'executed_result_missing: the result is missing',
  },
  {
    when: 'a person says that it was not',
    tell: (l) => {
      openAndEnter(l);
      doubt(l);
      resolve(l, { verb: 'confirm_not_executed' });
    },
    word: 'not submitted',
    axes: ['not_submitted', 'not_started', 'none'],
    outcome: 'not_executed: not_executed: proved or stated to have had no effect',
  },
  {
    when: 'a person gave it up: it stays unknown',
    tell: (l) => {
      openAndEnter(l);
      doubt(l);
      resolve(l, { verb: 'abandon' });
    },
    word: 'unknown',
    axes: ['maybe_submitted', 'unknown', 'unknown'],
    outcome: 'unknown: abandoned by a person',
  },
  {
    when: 'a later attempt is at work beside a lost one',
    tell: (l) => {
      openAndEnter(l, keyed);
      doubt(l);
      enter(l, { ...keyed, ...again() });
    },
    word: 'unknown',
    axes: ['maybe_submitted', 'unknown', 'unknown'],
    outcome: null,
  },
];

function toldBy({ tell }: Pick<Story, 'tell'>) {
  const ledger = memoryLedger();
  tell(ledger);
  return actionOf(ledger, [...ledger.run(RUN).actions.keys()][0]);
}

function outcomeText(action: ReturnType<typeof toldBy>): string | null {
  const outcome = outcomeOf(action);
  if (outcome === null) return null;
  const why = 'reason' in outcome ? `: ${outcome.reason}` : '';
  return `${outcome.kind}${why}${'message' in outcome ? `: ${outcome.message}` : ''}`;
}

describe('R-001 R-003 each state has its evidence', () => {
  test.each(stories)('$word when $when', (story) => {
    const action = toldBy(story);
    expect(wordOf(action)).toBe(story.word);
    const { submission, execution, effect, acceptance } = axesOf(emptyRun(RUN), action);
    expect([submission, execution, effect]).toEqual(story.axes);
    expect(acceptance).toBe('not_evaluated');
    expect(outcomeText(action)).toBe(story.outcome);
  });

  test('R-001 all six words occur, and none of the engine’s', () => {
    expect(new Set(stories.map(({ word }) => word))).toEqual(new Set(statusWords));
    expect(statusWords.join(' ')).not.toMatch(/fail|complete|cancel/i);
  });
});

test('R-002 states are no progress bar: what was unknown may turn out in every way', () => {
  const lost = (l: MemoryLedger) => {
    openAndEnter(l);
    doubt(l);
  };
  const after = (tell: (l: MemoryLedger) => void) =>
    wordOf(toldBy({ tell: (l) => inTurn(lost(l), tell(l)) }));
  expect(after((l) => void settle(l))).toBe('finished');
  expect(after((l) => void settle(l, { outcome: 'partial' }))).toBe('partial');
  expect(after((l) => void settle(l, { outcome: 'accepted' }))).toBe('accepted');
  expect(after((l) => void settle(l, { outcome: 'not_sent' }))).toBe('not submitted');
});

type Step = (ledger: MemoryLedger, attempt: string) => unknown;
/** What may happen to an open attempt without proving anything about it. */
const proofless: Record<string, Step> = {
  doubt: (l, attempt) => doubt(l, attempt),
  no_record: (l) => inquire(l, { verdict: 'no_record', contract: contractOf({}) }),
  unavailable: (l) => inquire(l, { verdict: 'unavailable' }),
  processing: (l) => inquire(l, { verdict: 'processing' }),
  beyond: (l) => inquire(l, { verdict: 'not_executed', proof: 'closed_key' }),
  unproved: (l) => inquire(l, { verdict: 'not_executed', proof: null }),
  revoke: (l) => change(l, 'revoke', { id: `revoke-${l.facts(RUN).length}` }),
  cancel: (l) => change(l, 'cancel', { id: `cancel-${l.facts(RUN).length}` }),
  refused: (l) => enter(l, { attemptId: `${ACTION}~${l.rows.size + 1}`, entryToken: 'late' }),
  minutes: (l) => later(l, 3_600_000),
};

test('R-005 R-006 R-007 what may be submitted is not taken back without a proof', () => {
  const steps = fc.array(fc.constantFrom(...Object.keys(proofless)), { maxLength: 8 });
  fc.assert(
    fc.property(steps, (names) => {
      const ledger = memoryLedger();
      openAndEnter(ledger);
      for (const name of names) {
        proofless[name]?.(ledger, `${ACTION}~1`);
        const { submission, effect } = axesOf(ledger.run(RUN), actionOf(ledger));
        expect([...names, submission, effect]).toEqual([...names, 'maybe_submitted', 'unknown']);
      }
    }),
  );
});

describe('R-008 effect, result and cost are unknown apart', () => {
  test('the effect is found, the result is missing and the cost unknown', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    const cost = { kind: 'unknown', reason: 'no receipt' } as const;
    settle(ledger, { result: null, resultMissing: 'lost', cost });
    const { effect, result, cost: said, acceptance } = axesOf(ledger.run(RUN), actionOf(ledger));
    expect({ effect, result, said, acceptance }).toEqual({
      effect: 'complete',
      result: 'missing',
      said: 'unknown',
      acceptance: 'not_evaluated',
    });
  });

  test('an open attempt has unknown cost, a settled one what it says', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger, rebuy);
    expect(axesOf(ledger.run(RUN), actionOf(ledger)).cost).toBe('unknown');
    enter(ledger, { ...rebuy, ...again() });
    settle(ledger, { attemptId: `${ACTION}~2` });
    expect(axesOf(ledger.run(RUN), actionOf(ledger)).cost).toBe('unknown');
    settle(ledger);
    const { cost, result } = axesOf(ledger.run(RUN), actionOf(ledger));
    expect([cost, result]).toEqual(['known', 'recorded']);
  });
});

test('R-008 an attempt proved to have had no effect leaves no unknown cost behind', () => {
  const ledger = memoryLedger();
  openAndEnter(ledger);
  doubt(ledger);
  const contract = contractOf({ closing: 'by_token' });
  inquire(ledger, { contract, verdict: 'not_executed', proof: 'closed_token' });
  expect(axesOf(ledger.run(RUN), actionOf(ledger)).cost).toBe('known');
});

test('R-057 the calls of an outcome are those of the reply that was first', () => {
  const ledger = memoryLedger();
  openAndEnter(ledger, rebuy);
  enter(ledger, { ...rebuy, ...again() });
  const call = { callId: 'c1', tool: 'read', input: { digest: payloadOf(1).digest, bytes: 1 } };
  settle(ledger, { attemptId: `${ACTION}~2`, calls: [call] });
  settle(ledger);
  expect(outcomeOf(actionOf(ledger))).toMatchObject({ kind: 'executed', calls: [call] });
});

test('a doubt names one attempt, not its neighbours', () => {
  const ledger = memoryLedger();
  openAndEnter(ledger, keyed);
  enter(ledger, { ...keyed, ...again() });
  doubt(ledger, `${ACTION}~2`);
  expect(actionOf(ledger).attempts.map((each) => each.doubted)).toEqual([false, true]);
});

test('a result that a person brought is the outcome, without calls', () => {
  const ledger = memoryLedger();
  openAndEnter(ledger);
  resolve(ledger, { verb: 'confirm_executed', result: { n: 1 }, externalId: 'ext-7' });
  const outcome = outcomeOf(actionOf(ledger));
  expect(outcome).toMatchObject({ kind: 'executed', calls: [], externalId: 'ext-7' });
});

test('the words of the attempt that made it final are given, not those of the last one', () => {
  const ledger = memoryLedger();
  openAndEnter(ledger, keyed);
  enter(ledger, { ...keyed, ...again() });
  settle(ledger, { outcome: 'refused' });
  settle(ledger, { attemptId: `${ACTION}~2`, outcome: 'not_sent' });
  expect(outcomeText(actionOf(ledger))).toBe('not_executed: refused: no: declined');
});

test('a final outcome that says executed and holds no result is a bug, and loud', () => {
  const ledger = memoryLedger();
  openAndEnter(ledger, safe);
  settle(ledger);
  const action = actionOf(ledger);
  const { final } = action;
  if (final === null) throw new Error('not final');
  expect(() => outcomeOf({ ...action, final: { ...final, resultRef: null } })).toThrow(ACTION);
});
