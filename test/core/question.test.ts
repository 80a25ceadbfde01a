import { describe, expect, test } from 'vitest';
import { type ResolveCommand, resolutionVerbSchema, resolveSchema } from '../../core/commands.ts';
import { levelOf } from '../../core/contract.ts';
import { marksText } from '../../core/marks-text.ts';
import { distinctTo, unfilledProblem } from '../../core/paste.ts';
import { promisedBy } from '../../core/promised.ts';
import { questionOf } from '../../core/question.ts';
import { followsTable } from '../../core/resolution-verbs.ts';
import { decideResolve } from '../../core/resolve.ts';
import { ACTION, enter, payloadOf, RUN, settle } from '../support/asks.ts';
import { bodies } from '../support/fact-bodies.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  again,
  contractOf,
  doubt,
  inquire,
  keyed,
  later,
  openAndEnter,
  resolve,
  strong,
} from '../support/story.ts';

const promised = { level: 'L1', closing: 'none', fencing: 'none' } as const;

function asked(ledger: MemoryLedger) {
  const question = questionOf(ledger.run(RUN), actionOf(ledger), promised);
  if (question === null) throw new Error('no question');
  return question;
}
const doubted = (over: Parameters<typeof openAndEnter>[1] = {}) => {
  const ledger = memoryLedger();
  openAndEnter(ledger, over);
  doubt(ledger);
  return ledger;
};
const answersOf = (ledger: MemoryLedger) => {
  const { if_yes, if_no, more } = asked(ledger);
  return [if_yes, if_no, ...more];
};
const filled = (answer: ResolveCommand): ResolveCommand =>
  resolveSchema.parse(JSON.parse(JSON.stringify(answer).replaceAll('FILL IN', 'seen in the log')));

describe('the question', () => {
  test('R-012 says what is asked, of whom, about which payload and on what evidence', () => {
    const ledger = doubted();
    later(ledger, 60_000);
    inquire(ledger, { verdict: 'processing', detail: 'the receiver works on it' });
    const question = asked(ledger);
    expect(question.question).toBe(`Did charge_card (${ACTION}) take effect at bank?`);
    expect(question.run).toBe(RUN);
    expect(question.signal).toBe('resolve');
    expect(question.evidence).toEqual({
      tool: 'charge_card 1',
      receiver: 'bank/acme/w1/eu',
      receiverKey: `test/default/${ACTION}`,
      payloadDigest: payloadOf({ amount: 10 }).digest,
      attempts: [`${ACTION}~1`],
      enteredAt: '2026-01-01T00:00:00.000Z',
      level: 'L1',
      closing: 'none',
      fencing: 'none',
      resendUntil: null,
      why: 'the receiver can be asked',
      doubt: 'no reply in time',
      lastAnswer: 'the receiver works on it',
      authRevision: 1,
    });
    expect(question.action).toEqual({ runId: RUN, actionId: ACTION, attemptIds: [`${ACTION}~1`] });
  });

  test.each([
    ['a%2Fb/acme/w1/eu', 'a/b'],
    [null, 'its receiver'],
    ['desk', 'desk'],
  ])('names the receiver of the domain %j as %s', (domain, name) => {
    expect(asked(doubted({ domain })).question).toBe(
      `Did charge_card (${ACTION}) take effect at ${name}?`,
    );
  });

  test('names every open attempt, and the newest one’s data', () => {
    const ledger = doubted(keyed);
    later(ledger, 60_000);
    enter(ledger, { ...keyed, ...again() });
    const { evidence, action } = asked(ledger);
    expect(action.attemptIds).toEqual([`${ACTION}~1`, `${ACTION}~2`]);
    expect(evidence.attempts).toEqual(action.attemptIds);
    expect(evidence.enteredAt).toBe('2026-01-01T00:01:00.000Z');
    expect(evidence.lastAnswer).toBeNull();
  });

  test('R-082 names the marks by which the effect of the newest attempt is recognised', () => {
    const ledger = doubted(keyed);
    expect(asked(ledger).evidence.marks).toBeUndefined();
    later(ledger, 60_000);
    enter(ledger, { ...keyed, ...again() });
    const body = bodies.attempt_prepared(ledger, { attemptId: `${ACTION}~2` });
    ledger.write(RUN, { source: 'execution', body });
    const { marks } = asked(ledger).evidence;
    expect(marksText(marks ?? {})).toBe('draft a.draft, inode 7');
    expect(marksText({})).toBe('(nothing)');
  });

  test('is asked about what the receiver accepted and does not end', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    settle(ledger, { outcome: 'accepted' });
    expect(asked(ledger).action.attemptIds).toEqual([`${ACTION}~1`]);
  });

  test('is none when nothing is open any more', () => {
    const ledger = doubted();
    settle(ledger);
    expect(questionOf(ledger.run(RUN), actionOf(ledger), promised)).toBeNull();
  });

  test('is the same for everyone who builds it from the same record', () => {
    const ledger = doubted();
    expect(asked(ledger)).toEqual(asked(ledger));
    const ids = answersOf(ledger).map(({ id }) => id);
    expect(ids).toEqual(
      ['yes', 'no', 'retry', 'abandon'].map((answer) => `unknown.${ACTION}/3/${answer}`),
    );
  });
});

describe('R-134 its evidence', () => {
  test('R-028 names until when the key is kept, from its first attempt on', () => {
    const ledger = doubted(keyed);
    later(ledger, 60_000);
    enter(ledger, { ...keyed, ...again() });
    // An hour of retention, less ten minutes of margin.
    expect(asked(ledger).evidence.resendUntil).toBe('2026-01-01T00:50:00.000Z');
  });

  test('R-032 says nothing of a receiver whose tool nobody knows any more', () => {
    const ledger = doubted();
    const question = questionOf(ledger.run(RUN), actionOf(ledger), promisedBy(undefined));
    expect(question?.evidence).toMatchObject({ level: 'L0', closing: 'none', fencing: 'none' });
    const contract = contractOf({ ...strong, closing: 'by_key' });
    expect(promisedBy({ level: levelOf(contract), contract })).toEqual({
      ...{ level: 'L1', closing: 'by_key', fencing: 'none' },
    });
  });

  test('R-120 names the tools that could undo it', () => {
    expect(asked(doubted({ compensation: ['refund'] })).evidence.compensation).toEqual(['refund']);
  });

  test('D13 says what each of its answers leads to', () => {
    const ledger = doubted();
    const { follows } = asked(ledger);
    expect(Object.keys(follows ?? {})).toEqual(answersOf(ledger).map(({ verb }) => verb));
    expect(Object.keys(followsTable)).toEqual([...resolutionVerbSchema.options]);
  });
});

describe('D9 the question about a dispute', () => {
  const saidNo = (ledger: MemoryLedger) =>
    resolve(ledger, { verb: 'confirm_not_executed', oldRequestCannotArrive: true });
  const late = (ledger: MemoryLedger) => settle(ledger, { source: 'late_result' });
  const disputed = () => {
    const ledger = doubted();
    saidNo(ledger);
    late(ledger);
    return ledger;
  };

  test('shows both outcomes with their sources, and an answer for each', () => {
    const ledger = disputed();
    const { question, outcomes, if_yes, if_no, more } = asked(ledger);
    expect(question).toBe(
      `Two outcomes of charge_card (${ACTION}) contradict each other: did it take effect at bank?`,
    );
    expect(outcomes).toEqual([
      { outcome: 'executed (ext-1)', source: `late_result: attempt ${ACTION}~1` },
      { outcome: 'not_executed', source: 'human: ada, receiver_query: log line 7' },
    ]);
    expect([if_yes, if_no, ...more]).toMatchObject([
      { verb: 'settle_dispute', states: 'executed' },
      { verb: 'settle_dispute', states: 'not_executed' },
    ]);
  });

  test.each(['if_yes', 'if_no'] as const)('its %s, filled in, settles it', (answer) => {
    const ledger = disputed();
    const command = filled(asked(ledger)[answer]);
    expect(ledger.decide({ runId: RUN }, decideResolve(command)).what).toBe('applied');
    expect(actionOf(ledger).disputed).toBe(false);
    expect(questionOf(ledger.run(RUN), actionOf(ledger), promised)).toBeNull();
  });

  test('R-039 prose with nothing to look up is refused, and says what to add', () => {
    const { evidence: _, ...prose } = filled(asked(disputed()).if_yes) as Record<string, unknown>;
    const { error } = resolveSchema.safeParse(prose);
    expect(error?.issues).toMatchObject([
      { path: ['evidence'], message: expect.stringMatching(/say what it rests on.*human_att/) },
    ]);
    const more = { kind: 'receiver_query', source: 'log', model: 'it says so' };
    const { error: odd } = resolveSchema.safeParse({ ...prose, evidence: more });
    expect(odd?.issues[0]?.message).toContain('model');
  });

  test('D10 what the receiver told of two effects stands in it, the words between do not', () => {
    const ledger = doubted();
    inquire(ledger, { verdict: 'processing', detail: 'at work' });
    settle(ledger);
    settle(ledger, { externalId: 'ext-2' });
    const [first, second] = asked(ledger).outcomes ?? [];
    expect(first?.outcome).toBe('executed (ext-1)');
    expect(second).toMatchObject({ outcome: expect.stringContaining('ext-2') });
    expect(second?.source).toMatch(/^second_effect: /);
    expect(JSON.stringify(asked(ledger).outcomes)).not.toContain('at work');
  });

  test('what one person said against another, and how it had been settled, stands in it', () => {
    const ledger = disputed();
    resolve(ledger, { verb: 'settle_dispute', states: 'not_executed' });
    resolve(ledger, { verb: 'confirm_executed', externalId: 'ext-9' });
    expect(asked(ledger).outcomes?.map(({ outcome }) => outcome)).toEqual([
      'executed (ext-1)',
      'not_executed',
      'not_executed',
      'executed (ext-9)',
    ]);
  });

  test('D10 two people against each other: what is still open says nothing', () => {
    const ledger = doubted();
    resolve(ledger, { verb: 'confirm_executed' });
    saidNo(ledger);
    expect(asked(ledger).outcomes?.map(({ outcome }) => outcome)).toEqual([
      'executed',
      'not_executed',
    ]);
  });

  test('what the receiver proved, and what a person gave up, are told apart', () => {
    const ledger = doubted(keyed);
    const contract = contractOf({ closing: 'by_token' });
    resolve(ledger, { verb: 'abandon' });
    inquire(ledger, { verdict: 'not_executed', proof: 'closed_token', contract });
    late(ledger);
    const [executed, closed, ...others] = asked(ledger).outcomes ?? [];
    expect([executed?.outcome, closed?.outcome]).toEqual(['executed (ext-1)', 'not_executed']);
    expect(closed?.source).toMatch(/^receiver_inquiry: /);
    expect(others).toEqual([]);
  });
});

describe('R-134 the answer for what looks like another one in doubt', () => {
  test('R-019 is complete, and the same each time, until the record moves on', () => {
    const answer = distinctTo(ACTION, 'r.t2.c1', 7);
    expect(resolveSchema.parse(answer)).toEqual(answer);
    expect(distinctTo(ACTION, 'r.t2.c1', 7)).toEqual(answer);
    expect(distinctTo(ACTION, 'r.t2.c1', 8).id).not.toBe(answer.id);
    expect(unfilledProblem(answer)).toContain('FILL IN');
  });
});

describe('R-134 its answers', () => {
  test('are complete commands: with every FILL IN replaced they parse, and are applied', () => {
    const verbs = answersOf(doubted()).map((answer) => answer.verb);
    expect(verbs).toEqual([
      'confirm_executed',
      'confirm_not_executed',
      'authorize_retry',
      'abandon',
    ]);
    for (const [index] of verbs.entries()) {
      const ledger = doubted(keyed);
      const answer = answersOf(ledger)[index];
      if (answer === undefined) throw new Error('no answer');
      const reply = ledger.decide({ runId: RUN }, decideResolve(filled(answer)));
      expect([answer.verb, reply]).toEqual([answer.verb, { what: 'applied', why: null }]);
    }
  });

  test('are rejected as they stand: a person has to say who, why and on what evidence', () => {
    for (const [index, answer] of answersOf(doubted()).entries()) {
      const ledger = doubted();
      const given = answersOf(ledger)[index] ?? answer;
      expect(resolveSchema.parse(given)).toEqual(given);
      expect(ledger.decide({ runId: RUN }, decideResolve(given)).what).toBe('rejected');
    }
  });

  test('promise nothing by themselves: no duplicate accepted, no old request excluded', () => {
    expect(answersOf(doubted())).toMatchObject([
      {},
      { oldRequestCannotArrive: false },
      { acceptsPossibleDuplicate: false },
      {},
    ]);
  });

  test('D7 are stale once the record has moved on', () => {
    const ledger = doubted(keyed);
    const [yes] = answersOf(ledger);
    enter(ledger, { ...keyed, ...again() });
    if (yes === undefined) throw new Error('no answer');
    const reply = ledger.decide({ runId: RUN }, decideResolve(filled(yes)));
    expect(reply.why).toContain('the record is now 4');
  });
});
