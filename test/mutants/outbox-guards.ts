// What keeps an outbox from sending what it may not send, or not again.

import type { Guard } from './mutant.ts';

const rules = 'test/receiver/outbox.test.ts';
const next = 'receiver/outbox/next.ts';

export const outboxGuards: readonly Guard[] = [
  {
    guard: 'outbox',
    file: 'receiver/outbox/sender.ts',
    test: rules,
    patches: [
      {
        name: 'outbox-sends-what-was-revoked',
        from: "if (may.kind === 'revoked')",
        to: 'if (false)',
        red: 'R-034 revoked between enqueue and send: no call, and the intent stays',
      },
      {
        name: 'outbox-window-without-end',
        from: 'if (isLate) throw',
        to: 'if (false) throw',
        red: 'R-034 a yes that has become old sends nothing, recorded or not',
      },
      {
        name: 'outbox-sends-before-it-records',
        from: "...{ state: 'sending' as const, reason: null },",
        to: '...{ state: record.state, reason: null },',
        test: 'test/receiver/outbox.process.test.ts',
        red: 'R-033 killed between delivery and record: without keys unknown, not resent',
      },
      {
        name: 'outbox-drops-a-late-receipt',
        from: "if (outcome.kind !== 'executed' || current.state === 'executed') return",
        to: 'if (outcome !== null) return',
        red: 'R-101 the late receipt of a sender that was thought lost counts',
      },
      {
        name: 'outbox-resends-without-keys',
        file: next,
        from: 'if (gap !== undefined) return',
        to: 'if (false) return',
        red: 'R-033 R-029 a lost reply of a service without keys: unknown, and not again',
      },
      {
        name: 'outbox-resends-forgotten-keys',
        file: next,
        from: 'if (!isKept(contract, record.firstSentAt, now))',
        to: 'if (false)',
        red: 'R-027 past the retention it is not sent again, nor with a clock set back',
      },
      {
        name: 'outbox-takes-a-later-refusal-for-proof',
        file: next,
        from: "if (outcome === 'open' || openSends > 0)",
        to: "if (outcome === 'open')",
        red: 'D6 that a later send is refused proves nothing of the first',
      },
      {
        name: 'outbox-key-for-two-intents',
        file: 'receiver/outbox/rows.ts',
        from: 'if (!isSame) throw',
        to: 'if (false) throw',
        red: 'A3 the same intent is there once; its key stands for no other',
      },
      {
        name: 'outbox-answer-to-an-older-record',
        file: 'receiver/outbox/resolution.ts',
        from: 'if (version !== record.version)',
        to: 'if (false)',
        red: 'D7 R-033 only a person has an unknown sent again, by its own key',
      },
    ],
  },
];
