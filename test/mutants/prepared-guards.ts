// What an attempt writes down before its effect, and who can do so no more.

import type { Guard } from './mutant.ts';

const prepareTest = 'test/core/prepare.test.ts';

export const preparedGuards: readonly Guard[] = [
  {
    guard: 'prepared before asked',
    file: 'core/prepare.ts',
    test: prepareTest,
    patches: [
      {
        name: 'prepares-while-asked-about',
        from: "if (attempt.doubted) return 'the attempt is asked about';",
        to: '',
        red: 'C11 an attempt that is asked about can no longer prepare, nor repeat that it has',
      },
      {
        name: 'prepares-after-it-was-shut-out',
        from: "if (attempt.settled !== null || attempt.exclusion !== 'none')",
        to: "if (attempt.attemptId === '')",
        red: 'C11 without marks "not executed" counts, and nothing is prepared any more',
      },
      {
        name: 'prepares-under-an-old-claim',
        test: 'test/core/fact-rules.test.ts',
        from: 'attempt.entry.sendToken.epoch !== opened?.epoch',
        to: 'false',
        red: 'breaks: another claim has the run – B5 what an older epoch entered',
      },
      {
        name: 'prepares-on-another-ledger',
        from: 'if (mismatch !== null)',
        to: 'if (mismatch === undefined)',
        red: 'R-082 on another ledger nothing is prepared',
      },
      {
        name: 'not-executed-though-it-prepared',
        file: 'core/inquiry.ts',
        from: 'if (hasPreparedSince(ask, action)) return null;',
        to: '',
        red: 'C11 "not executed" of one that prepared since it was asked leaves so many open',
      },
      {
        name: 'sent-though-not-prepared',
        file: 'activities/prepare.ts',
        test: 'test/activities/prepare.test.ts',
        from: 'throw notPrepared(attemptId, messageOf(error));',
        to: 'return { reply: null };',
        red: 'C12 marks that cannot be kept: nothing is sent, and that is known',
      },
    ],
  },
];
