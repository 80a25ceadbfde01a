import { describe, expect, test } from 'vitest';
import { type ResolveCommand, resolveSchema } from '../../core/commands.ts';
import { questionOf } from '../../core/question.ts';
import { decideResolve } from '../../core/resolve.ts';
import { ACTION, enter, payloadOf, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { actionOf, again, doubt, inquire, keyed, later, openAndEnter } from '../support/story.ts';

function asked(ledger: MemoryLedger) {
  const question = questionOf(ledger.run(RUN), actionOf(ledger), 'L1');
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

  test('is asked about what the receiver accepted and does not end', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    settle(ledger, { outcome: 'accepted' });
    expect(asked(ledger).action.attemptIds).toEqual([`${ACTION}~1`]);
  });

  test('is none when nothing is open any more', () => {
    const ledger = doubted();
    settle(ledger);
    expect(questionOf(ledger.run(RUN), actionOf(ledger), 'L1')).toBeNull();
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
