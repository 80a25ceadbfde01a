// What a stop leaves to be recorded: late results, and tools that are told to end, or not.

import type { Guard } from './mutant.ts';

export const lateGuards: readonly Guard[] = [
  {
    guard: 'late by the stop',
    file: 'core/fold.ts',
    test: 'test/faults/late-order.server.test.ts',
    patches: [
      {
        name: 'late-only-in-doubt',
        from: 'const late = stopped || (',
        to: 'const late = (',
        red: 'K-076 R-108 result and stop in both orders: same axes, same end, nothing more',
      },
    ],
  },
  {
    guard: 'nothing after a stop',
    file: 'workflows/course.ts',
    test: 'test/faults/late-results.server.test.ts',
    patches: [
      {
        name: 'act-after-a-stop',
        from: "return stop === null ? null : { kind: 'stopped', reason: stop };",
        to: 'return stop === null ? null : null;',
        red: 'R-108 R-110 after a revoke: kept as it was, the model is not told',
      },
    ],
  },
  {
    guard: 'abort by cancel alone',
    file: 'activities/progress.ts',
    test: 'test/faults/cancel.server.test.ts',
    patches: [
      {
        name: 'revoke-aborts',
        from: 'if (canceled) controller.abort',
        to: 'if (canceled || (await ledger.read(runId)).revoked) controller.abort',
        red: 'T-09 R-122 a revoke tells no tool to stop: what is at work comes to its end',
      },
    ],
  },
];
