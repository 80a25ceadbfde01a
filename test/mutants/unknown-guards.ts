// What an unknown allows: a resend, an undoing, another wish beside it, going on with a half, and
// the answers that end it.

import type { Guard } from './mutant.ts';

const gateTest = 'test/core/gate.test.ts';
const inquiryTest = 'test/core/after-inquiry.test.ts';
const answersTest = 'test/core/settle-dispute.test.ts';
const goingOn = 'test/core/going-on.test.ts';

export const unknownGuards: readonly Guard[] = [
  {
    guard: 'compensation',
    file: 'core/gate-compensation.ts',
    test: gateTest,
    patches: [
      {
        name: 'compensates-what-is-open',
        from: 'original.disputed || undecided,',
        to: 'false,',
        red: 'compensates_open when D12 R-119 what it undoes is in doubt leaves closed',
      },
      {
        name: 'compensates-nothing',
        from: 'return says(!hasEffectBy(original.final), ',
        to: 'return says(false, ',
        red: 'nothing_to_compensate when R-119 the receiver refused what it undoes leaves closed',
        says: 'compensates what is open, or had no effect',
      },
      {
        name: 'compensates-on-record-what-is-open',
        file: 'core/fact-rules.ts',
        test: 'test/core/fact-rules.test.ts',
        from: 'return hasEffectBy(run.actions.get(compensates.actionId)?.final ?? null);',
        to: 'return true;',
        red: 'breaks: compensates what is open, or had no effect – D12 undoes what is open',
      },
      {
        name: 'compensates-ungranted',
        file: 'core/gate-authority.ts',
        from: "ask.compensates === undefined ? grantFor[ask.replay] : 'compensate'",
        to: 'grantFor[ask.replay]',
        red:
          'not_granted when R-119 it undoes something, and compensate is not granted ' +
          'leaves closed',
      },
      {
        name: 'compensates-another-version',
        file: 'core/gate-authority.ts',
        from: ' ?? compensatedVersionProblem(each),',
        to: ',',
        red: 'object_changed when R-119 its object is not as the effect had left it leaves closed',
      },
    ],
  },
  {
    guard: 'resend by the answer',
    file: 'core/after-attempt.ts',
    test: inquiryTest,
    patches: [
      {
        name: 'resend-on-a-question-that-failed',
        from: "unavailable: 'wait',",
        to: "unavailable: 'resend',",
        red: 'unavailable under keyed: inquire_again',
      },
      {
        name: 'resend-while-it-is-at-work',
        from: "processing: 'wait',",
        to: "processing: 'resend',",
        red: 'processing under keyed: inquire_again',
      },
      {
        name: 'ask-without-end',
        from: "if (context.inquiries >= limits.inquiriesBeforeQuestion) return { kind: 'ask' };",
        to: '',
        red:
          'unavailable again and again: asked ever more patiently, then a person, and nothing is ' +
          'sent',
      },
    ],
  },
  {
    guard: 'refused key',
    file: 'core/after-attempt.ts',
    test: inquiryTest,
    patches: [
      {
        name: 'key-refused-and-sent-again',
        from: "ifOpen: context.keyRefused ? 'ask' : 'resend'",
        to: "ifOpen: 'resend'",
        red: 'is not used again on no_record',
      },
      {
        name: 'key-refused-and-gone-on-with',
        from: "if (context.keyRefused) return { kind: 'ask' };",
        to: '',
        red: 'is not used to go on with what is half done',
      },
      {
        name: 'key-refused-and-begun-again',
        from: "end.ifOpen === 'not_again' || context.keyRefused",
        to: "end.ifOpen === 'not_again'",
        red: 'is not used again for what is proved not to be executed: that is the outcome',
      },
    ],
  },
  {
    guard: 'going on',
    file: 'core/gate-table.ts',
    test: goingOn,
    patches: [
      {
        name: 'goes-on-with-what-was-accepted',
        from: "return continues === true && settled?.outcome === 'partial';",
        to: 'return continues === true && settled !== null;',
        red: 'action_in_doubt: what the receiver has accepted is its own, whatever the tool can',
      },
      {
        name: 'goes-on-with-what-is-forgotten',
        from: 'arrivableAttempts(action).length === 0 && halfDoneOf(action) === null',
        to: 'arrivableAttempts(action).length === 0',
        red: 'retention_expired: R-027 the receiver may have forgotten it, and would begin again',
      },
      {
        name: 'half-done-called-nothing',
        file: 'core/after-attempt.ts',
        test: inquiryTest,
        from: "return step.kind === 'done' ? { kind: 'ask' } : step;",
        to: 'return step;',
        red: 'is never called not executed under never, whatever is spent',
      },
    ],
  },
  {
    guard: 'distinct wishes',
    file: 'core/gate-table.ts',
    test: answersTest,
    patches: [
      {
        name: 'distinct-not-honoured',
        from: '!others.includes(each.actionId),',
        to: 'others.length >= 0,',
        red: 'enters once a person has said that it is another wish',
      },
      {
        name: 'distinct-from-anything',
        file: 'core/resolve.ts',
        from: 'if (refusals.some(({ twin }) => twin === distinctFrom)) return null;',
        to: 'if (refusals.length > 0) return null;',
        red: 'still waits after an answer that is not to it: it waits for r.t2.c1',
      },
    ],
  },
  {
    guard: 'disputes',
    file: 'core/resolve.ts',
    test: answersTest,
    patches: [
      {
        name: 'dispute-that-is-none',
        from: "return action.disputed ? null : 'no two outcomes",
        to: "return action.disputed !== null ? null : 'no two outcomes",
        red: 'there is no dispute: nothing changes',
        says: 'there is no dispute',
      },
      {
        name: 'dispute-not-on-record',
        file: 'core/fact-rules.ts',
        test: 'test/core/fact-rules.test.ts',
        from: "body.verb !== 'settle_dispute' || action?.disputed === true,",
        to: 'true,',
        red: 'breaks: there is no dispute – D9 nothing contradicts',
      },
      {
        name: 'dispute-rolls-parts-into-one',
        file: 'core/finality.ts',
        from: 'executed === hasEffectBy(final) && !namesAnother(final, body)',
        to: 'false',
        red: 'as it was recorded: D14 its parts stay its parts',
      },
    ],
  },
  {
    guard: 'stale answers',
    file: 'core/fold.ts',
    test: 'test/core/every-answer.test.ts',
    patches: [
      {
        name: 'stale-after-a-proof',
        from: "return about === 'second_effect' || proof !== null || tellsEffect;",
        to: 'return false;',
        red: 'is stale (true) once the receiver proved that nothing happened',
      },
    ],
  },
  {
    guard: 'no claim without a word',
    file: 'core/inquiry.ts',
    test: 'test/core/inquiry.test.ts',
    patches: [
      {
        name: 'proof-beyond-what-was-asked',
        from: 'attempt.entry.number <= ask.upToNumber',
        to: 'attempt.entry.number > 0',
        red: 'a later attempt than the question named is not covered',
      },
      {
        name: 'no-record-of-what-was-accepted',
        from: 'if (action.attempts.some(isOngoing)) return false;',
        to: '',
        red: 'what the receiver had accepted is not undone by its record being gone',
      },
      {
        name: 'refused-over-an-effect',
        file: 'core/finality.ts',
        test: 'test/core/finality.test.ts',
        from: "found.find(({ content }) => content.kind !== 'refused') ?? found[0] ?? null",
        to: 'found[0] ?? null',
        red: 'executed: by an effect of the later attempt, though the earlier one was refused',
      },
      {
        name: 'not-executed-while-it-is-going-on',
        file: 'core/action-status.ts',
        test: 'test/core/unknown-sequences.test.ts',
        from: 'if (undecidedAttempts(action).length > 0) return null;',
        to: 'if (openAttempts(action).length > 0) return null;',
        red: 'in any order, what entered is "not executed" by a word on it alone',
        says: 'Property failed',
      },
    ],
  },
];
