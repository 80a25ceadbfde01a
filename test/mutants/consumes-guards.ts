// What a run was told by Temporal is a hint: the gate and the run compare it with the ledger.

import type { Guard } from './mutant.ts';

export const consumesGuards: readonly Guard[] = [
  {
    guard: 'consumes',
    file: 'core/gate-table.ts',
    test: 'test/core/gate.test.ts',
    patches: [
      {
        name: 'consumes-forged-outcome',
        from: 'return action?.final?.digest === pair.outcome;',
        to: 'return action !== undefined;',
        red:
          'predecessor_mismatch when it consumes another outcome than the recorded one ' +
          'leaves closed',
      },
      {
        name: 'consumes-not-executed',
        from: "return action?.final == null || action.final.kind === 'not_executed';",
        to: 'return true;',
        red: 'predecessor_mismatch when it takes an executed action for not executed leaves closed',
      },
      {
        name: 'consumes-base',
        from: 'if (!view.run.rolled.has(ask.consumes.base))',
        to: 'if (false)',
        red: 'predecessor_mismatch when its base is no digest of this run leaves closed',
        says: 'consumes from a base that is not known',
      },
      {
        name: 'consumes-open-outcome',
        from: "if (pair.outcome === 'open') return ask.onUnknown === 'hold';",
        to: "if (pair.outcome === 'open') return false;",
        red:
          'predecessor_open when it consumes an open outcome and is not independent leaves ' +
          'closed',
      },
      {
        name: 'consumes-at-the-end',
        test: 'test/core/end-run.test.ts',
        from:
          'completes ? consumedOtherwise(' +
          "{ consumes: ask.consumes, onUnknown: 'continue' }, view) : null",
        to: 'null',
        red: 'predecessor_mismatch: a forged result of a final one',
      },
      {
        name: 'consumes-undecided-action',
        from: 'return action?.final === null && undecidedAttempts(action).length > 0;',
        to: 'return false;',
        red:
          'predecessor_open when it takes for not executed what the receiver accepted ' +
          'leaves closed',
      },
    ],
  },
  {
    guard: 'consumes',
    file: 'core/perform-reply.ts',
    test: 'test/core/perform-reply.test.ts',
    patches: [
      {
        name: 'reply-of-another-action',
        from: 'if (outcome !== null && outcome.actionId !== actionId) return false;',
        to: '',
        red: 'the outcome of another action',
      },
      {
        name: 'reply-with-a-made-up-value',
        from: "return outcome?.kind === 'executed' && digestOf(value) === outcome.result.digest;",
        to: "return outcome?.kind === 'executed';",
        red: 'another value than was recorded',
      },
    ],
  },
];
