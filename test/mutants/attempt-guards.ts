// What one delivery does around the gate: who it is, barrier age, send window, result.

import type { Guard } from './mutant.ts';

const perform = 'activities/perform-action.ts';
const afterTheGate = 'test/activities/after-the-gate.test.ts';
const performTest = 'test/activities/perform-action.test.ts';

export const attemptGuards: readonly Guard[] = [
  {
    guard: 'attempt uniqueness',
    file: 'activities/delivery.ts',
    test: performTest,
    patches: [
      {
        name: 'attempt-of-another-activity',
        from: 'if (attemptId !== null && info.activityId !== attemptId)',
        to: 'if (false)',
        red: 'a call that is not about its activity is a failure, and nothing is sent',
        says: 'it did not fail',
      },
    ],
  },
  {
    guard: 'entry token',
    file: 'activities/gate-entry.ts',
    test: performTest,
    patches: [
      {
        name: 'token-of-the-attempt',
        from: 'entryToken: deps.random(),',
        to: 'entryToken: call.attemptId,',
        red: 'R-046 a second delivery of an attempt is refused: one call',
        says: 'the line broke',
      },
    ],
  },
  {
    guard: 'barrier age',
    file: 'activities/gate-entry.ts',
    test: afterTheGate,
    patches: [
      {
        name: 'age-in-the-transaction',
        from: 'decideEntry({ ...ask, barrier: viewOf(at.barrier, at.window) })(view),',
        to: 'decideEntry(ask)(view),',
        red: 'a process frozen in the transaction of the gate calls nobody',
      },
      {
        name: 'age-at-the-commit',
        file: perform,
        from: "if (verdict === 'entered' && age > limits.barrierAgeMs)",
        to: 'if (false)',
        red: 'a process frozen at the commit of the gate calls nobody',
      },
      {
        name: 'age-of-opening',
        file: 'core/open-run.ts',
        test: 'test/core/open-run.test.ts',
        from: "if (barrier.kind === 'unavailable' || barrier.ageMs > limits.barrierAgeMs)",
        to: "if (barrier.kind === 'unavailable')",
        red: 'answers authority_unavailable and writes nothing: a barrier that is too old',
      },
    ],
  },
  {
    guard: 'send window',
    file: 'activities/send-window.ts',
    test: afterTheGate,
    patches: [
      {
        name: 'window-before-the-first-byte',
        from: 'if (age > windowMs)',
        to: 'if (false)',
        red: 'a process frozen before its first byte does not send: not_sent',
      },
      {
        name: 'window-before-the-tool',
        from: 'isOpen: () => ageMs() <= windowMs,',
        to: 'isOpen: () => true,',
        red: 'a delivery whose COMMIT reply was lost: after the send window sends nothing',
      },
      {
        name: 'window-passed-is-not-sent',
        file: 'activities/execution.ts',
        from: 'if (error instanceof NotSentError && !window.hasPassed())',
        to: 'if (error instanceof NotSentError)',
        red: 'a NotSentError after a first byte proves nothing',
        says: 'it did not fail',
      },
      {
        name: 'window-on-one-clock',
        file: 'core/instant.ts',
        test: 'test/core/instant.test.ts',
        from: ', now.wallMs - from.wallMs',
        to: '',
        red:
          'elapsed time, the larger of two clocks: the machine slept: the monotonic clock ' +
          'stood still',
      },
      {
        name: 'window-of-the-file-tool',
        file: 'activities/tools/files/writing.ts',
        test: 'test/activities/files/create-file.test.ts',
        from: 'if (changed === null) attempt.beforeSend();',
        to: '',
        red: 'the send window is checked before the name appears; the draft is evidence',
      },
      {
        name: 'window-of-the-model',
        file: 'activities/tools/model.ts',
        test: 'test/activities/model.test.ts',
        from: 'attempt.beforeSend();',
        to: '',
        red: 'a request whose send window has passed is not sent, and may be made again',
      },
      {
        name: 'window-of-the-http-tool',
        file: 'activities/tools/http-receiver.ts',
        test: 'test/activities/http-receiver.test.ts',
        from: 'attempt.beforeSend();',
        to: '',
        red: 'a receiver that is gone settles nothing; its first byte was announced before',
      },
    ],
  },
  {
    guard: 'result before return',
    file: 'activities/result-store.ts',
    test: performTest,
    patches: [
      {
        name: 'result-not-stored',
        from: 'return decide(view);',
        to: 'return { ...decide(view), facts: [] };',
        red: 'R-050 R-023 intent before the call, result after it, at its allocated id',
      },
      {
        name: 'result-tried-once',
        from: 'if (!mayPass(code) || clock.now().monotonicMs + pauseMs > giveUpAt) throw error;',
        to: 'throw error;',
        red: 'R-007 a ledger that comes back in time takes the result',
        says: 'not stored',
      },
      {
        name: 'result-receipt-lost',
        file: perform,
        from: "{ phase: 'result', attemptId, externalId, receiptDigest },",
        to: "{ phase: 'result', attemptId, externalId: null, receiptDigest: null },",
        red: 'R-007 R-060 a result that cannot be stored: unknown, the receipt is handed on',
      },
      {
        name: 'result-too-large-is-lost',
        file: 'activities/settlement.ts',
        test: afterTheGate,
        from:
          'return { ...stored, payloads: [...ask.payloads, { digest: ref.digest, bytes }] ' +
          '};\n  } catch (error) {\n    return',
        to:
          'return { ...stored, payloads: [...ask.payloads, { digest: ref.digest, bytes }] ' +
          '};\n  } catch (error) {\n    throw error;\n    return',
        red: 'R-007 a result that is no JSON: executed, its result is missing, never repeated',
        says: 'only plain objects',
      },
      {
        name: 'result-end-not-written',
        file: 'core/end-run.ts',
        test: 'test/activities/run-life.test.ts',
        from: "facts: [{ source: 'history', body }], payloads",
        to: 'facts: [], payloads',
        red: 'R-059 the end is in the ledger before it is returned; opening returns it',
        says: 'ended without run_ended',
      },
    ],
  },
];
