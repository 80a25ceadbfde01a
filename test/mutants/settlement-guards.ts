// What becomes of attempts: doubt, late news, closing, first settlement, failures that are final.

import type { Guard } from './mutant.ts';

const perform = 'activities/perform-action.ts';
const afterTheGate = 'test/activities/after-the-gate.test.ts';
const failuresTest = 'test/activities/failures.test.ts';

export const settlementGuards: readonly Guard[] = [
  {
    guard: 'in-doubt mark',
    file: 'core/doubt.ts',
    test: 'test/core/doubt.test.ts',
    patches: [
      {
        name: 'doubt-not-written',
        from: "return { reply: 'in_doubt', facts };",
        to: "return { reply: 'in_doubt', facts: [] };",
        red: 'R-005 one that entered is in doubt, whether or not it ever reached the receiver',
      },
      {
        name: 'doubt-over-a-settlement',
        from: "if (attempt.settled !== null || attempt.exclusion !== 'none')",
        to: 'if (false)',
        red: 'it answers settled and writes nothing when it has settled',
        says: 'names an attempt that is not open',
      },
    ],
  },
  {
    guard: 'late signal',
    file: perform,
    test: afterTheGate,
    patches: [
      {
        name: 'late-news-not-told',
        from: 'if (committed.reply.wasInDoubt) await tellLate',
        to: 'if (false) await tellLate',
        red: 'R-110 the result of an action in doubt is recorded late and told to both',
      },
      {
        name: 'late-news-not-to-the-question',
        file: 'activities/late-signal.ts',
        from: '...(question === null ? [] : [signals.toQuestion(question, fact)]),',
        to: '',
        red: 'R-110 the result of an action in doubt is recorded late and told to both',
      },
      {
        name: 'late-news-not-to-the-run',
        file: 'activities/late-signal.ts',
        from: 'signals.toRun(runId, fact),',
        to: '',
        red: 'R-110 the result of an action in doubt is recorded late and told to both',
      },
    ],
  },
  {
    guard: 'closing on refusal',
    file: 'core/closing.ts',
    test: 'test/core/gate-entry.test.ts',
    patches: [
      {
        name: 'refusal-closes-nothing',
        from: "gateRows: [{ kind: 'closed', attemptId, actionId, verdict, inChain: true }],",
        to: 'gateRows: [],',
        red: 'R-006 an attempt that was closed can never enter, whatever holds later',
      },
      {
        name: 'streak-closes-nothing',
        from: "gateRows: [{ kind: 'closed', attemptId, actionId, verdict, inChain: false }],",
        to: 'gateRows: [],',
        red: 'of a streak of authority_unavailable only the first and the last are in the chain',
      },
      {
        name: 'doubt-closes-nothing',
        file: 'core/doubt.ts',
        test: 'test/core/doubt.test.ts',
        from: "if (attempt === undefined) return { reply: 'closed', ...closed(view, ask) };",
        to: "if (attempt === undefined) return { reply: 'closed', facts: [] };",
        red: 'R-006 one that never entered is closed, which proves that nothing was submitted',
      },
      {
        name: 'closed-under-the-revision-of-now',
        file: 'core/doubt.ts',
        test: 'test/core/doubt.test.ts',
        from: 'revisions: scheduled?.revisions ?? view.run.revisions,',
        to: 'revisions: view.run.revisions,',
        red: 'R-034 what stays unsent is kept, under the revision that it was decided under',
      },
    ],
  },
  {
    guard: 'closing inquiry',
    file: 'activities/inquire.ts',
    test: 'test/activities/inquire.test.ts',
    patches: [
      {
        name: 'inquiry-closes-nothing',
        from: 'await transactPinned(deps.ledger, call, { actionId, attemptId }, closing);',
        to: 'void closing;',
        red: 'R-006 an attempt without a gate row is closed: it was not submitted',
      },
      {
        name: 'inquiry-closes-what-entered',
        file: 'core/doubt.ts',
        test: 'test/core/doubt.test.ts',
        from: "if (view.gateRow?.kind === 'entered') return { reply: 'entered', facts: [] };",
        to: '',
        red: 'R-005 leaves what entered',
        says: 'the attempt has entered',
      },
      {
        name: 'inquiry-claims-more',
        file: 'core/inquiry.ts',
        from: 'return contractAllows(ask) ? ask.proof : null;',
        to: 'return ask.proof;',
        red: 'a claim the contract does not cover proves nothing: the action stays unknown',
      },
      {
        name: 'inquiry-no-record-proves',
        file: 'core/inquiry.ts',
        from: "ask.verdict === 'no_record' && noRecordIsFinal(ask, action)",
        to: "ask.verdict === 'no_record'",
        red: 'R-037 no_record proves nothing: the action stays unknown',
      },
      {
        name: 'inquiry-forgets-the-send-window',
        file: 'core/inquiry.ts',
        test: 'test/core/inquiry.test.ts',
        from: 'newest + sendWindowMs + contract.requestDelayMaxMs',
        to: 'newest + contract.requestDelayMaxMs',
        red: 'false: while it may have been sent late in its window',
      },
      {
        name: 'receiver-closing-not-written',
        file: 'receiver/inquiry.ts',
        test: 'test/receiver/closing.test.ts',
        from: 'await writeClosing(tx, of, widened, site.clock());',
        to: '',
        red: 'A14 a closed token is refused each time it comes, a later one passes',
      },
      {
        name: 'receiver-closing-not-asked',
        file: 'receiver/verdict.ts',
        test: 'test/receiver/closing.test.ts',
        from: "['closed', isClosed],",
        to: "['closed', () => false],",
        red: 'A14 a closed token is refused each time it comes, a later one passes',
      },
    ],
  },
  {
    guard: 'first settlement wins',
    file: 'core/settle.ts',
    test: 'test/core/settle.test.ts',
    patches: [
      {
        name: 'settlement-written-over',
        from: 'if (attempt.settled !== null)',
        to: 'if (false)',
        red: 'another effect is observed and never written over the first',
        says: 'the attempt is settled',
      },
      {
        name: 'settlement-final-again',
        file: 'core/finality.ts',
        test: 'test/core/finality.test.ts',
        from: 'if (action.final !== null) return action;',
        to: '',
        red: 'R-057 the first stored reply of a model call is the outcome; later ones only cost',
      },
    ],
  },
  {
    guard: 'interceptor',
    file: 'activities/interceptor.ts',
    test: failuresTest,
    patches: [
      {
        name: 'interceptor-lets-through',
        from: 'throw failureOf(error);',
        to: 'throw error;',
        red: 'the interceptor lets results pass and makes every error final',
      },
      {
        name: 'failure-is-retryable',
        file: 'activities/failures.ts',
        from: 'nonRetryable: true,',
        to: 'nonRetryable: false,',
        red: 'R-009 phase execute has its type, and is never retryable',
      },
      {
        name: 'failure-of-others-kept',
        file: 'activities/failures.ts',
        from: 'if (error instanceof ApplicationFailure && error.nonRetryable) return error;',
        to: 'if (error instanceof ApplicationFailure) return error;',
        red: 'R-009 a retryable failure has its type, and is never retryable',
      },
      {
        name: 'interceptor-not-installed',
        file: 'workers/create-workers.ts',
        test: 'test/workers/create-workers.server.test.ts',
        from: 'interceptors: { activity: [heartbeatInterceptor, nonRetryableInterceptor] },',
        to: 'interceptors: { activity: [heartbeatInterceptor] },',
        red: 'R-009 an attempt that throws is failed for good: Unpause finds nothing to run',
      },
    ],
  },
  {
    guard: 'acceptance of a version',
    file: 'core/acceptance.ts',
    test: 'test/core/acceptance.test.ts',
    patches: [
      {
        name: 'judgement-outlives-its-version',
        from: 'each.objectVersion === version && each.seq > after',
        to: 'each.seq > after',
        red: 'formatted after the check',
      },
      {
        name: 'judgement-outlives-a-change',
        from: 'each.objectVersion === version && each.seq > after',
        to: 'each.objectVersion === version',
        red: 'put back to what was checked, after another version',
      },
      {
        name: 'one-check-answers-for-all',
        from: 'holding.length === all.length',
        to: 'holding.length > 0',
        red: 'several checks: one that judged an earlier version is missed',
      },
    ],
  },
];
