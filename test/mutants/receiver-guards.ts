// Guards of the receiver: who is asked first, and what one transaction holds together. The locks
// of Postgres are tried by `npm run test:postgres`, which has a control for them.

import type { Guard } from './mutant.ts';

export const receiverGuards: readonly Guard[] = [
  {
    guard: 'receiver fence',
    file: 'receiver/verdict.ts',
    test: 'test/receiver/fences.test.ts',
    patches: [
      {
        name: 'receiver-fence-not-asked',
        from: "['fenced', isFenced],",
        to: "['fenced', () => false],",
        red: 'B6: an item queued at epoch 1 is checked again when it runs',
      },
      {
        name: 'receiver-stale-asker-heard',
        file: 'receiver/inquiry.ts',
        from: 'asker.sendToken.epoch >= epoch) return null;',
        to: 'asker.sendToken.epoch >= 0) return null;',
        red: 'B2: one worker, two attempts: every late call of the first is refused',
      },
    ],
  },
  {
    guard: 'receiver transaction',
    file: 'receiver/store.ts',
    test: 'test/receiver/effects.test.ts',
    patches: [
      {
        name: 'receiver-failed-statement-forgiven',
        from: 'failure ??= { error };',
        to: 'void error;',
        red: 'A8: a statement that failed dooms the effect, although it was caught',
      },
      {
        name: 'receiver-effect-ends-its-transaction',
        from: 'CONTROL.test(sql) ? refuse(sql) : statement();',
        to: 'statement();',
        red: 'A4: an effect that would end its transaction is rolled back',
      },
      {
        name: 'receiver-without-turns',
        file: 'receiver/turns.ts',
        from: 'if (await came(before, waitMs)) return done;',
        to: 'return done;',
        red: 'A4: an effect that awaits lets neither twin nor closing in between',
      },
    ],
  },
];
