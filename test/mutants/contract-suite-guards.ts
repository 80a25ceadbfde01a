// The probes of the contract suite of which each is the only one to catch its liar.

import type { Guard } from './mutant.ts';

const suite = (file: string) => `activities/contract-suite/${file}.ts`;
const whoever = (lie: string) => `whoever ${lie} is caught`;

export const contractSuiteGuards: readonly Guard[] = [
  {
    guard: 'contract suite',
    file: suite('closing-probes'),
    test: 'test/activities/contract-suite/liars.process.test.ts',
    patches: [
      {
        name: 'suite-without-late-duplicates',
        from: 'overtake(bench, bench.order(), 2)',
        to: 'overtake(bench, bench.order(), 1)',
        red: whoever('opens the door again after the first late request'),
      },
      {
        name: 'suite-without-a-later-token',
        from: "if (closing !== 'none' && (found !== closing || says !== closing))",
        to: 'if (false)',
        red: whoever('closes the whole key instead of a token'),
      },
      {
        name: 'suite-without-a-kill-after-closing',
        from: 'await bench.restart();',
        to: '',
        red: whoever('forgets its closings when it is killed'),
      },
      {
        name: 'suite-without-time-after-closing',
        from: 'await bench.passTime(Math.max(0, retentionMs - retentionMarginMs - 1));',
        to: '',
        red: whoever('forgets closings before keys'),
      },
      {
        name: 'suite-believes-a-closing-at-work',
        file: suite('closing-races'),
        from: "if (answer.verdict === 'not_executed' && count > 0) return",
        to: 'if (false) return',
        red: whoever('closes what it is at work on'),
      },
      {
        name: 'suite-without-another-run',
        file: suite('fencing-probes'),
        from: "return sent.kind === 'done' ? held(saw)",
        to: 'return sent !== null ? held(saw)',
        red: whoever('has one fence for all runs'),
      },
      {
        name: 'suite-without-a-kill-after-the-fence',
        file: suite('fencing-probes'),
        from: 'await bench.restart();',
        to: '',
        red: whoever('forgets its fences when it is killed'),
      },
      {
        name: 'suite-without-the-moment-of-the-fence',
        file: suite('fencing-probes'),
        from: 'if (then !== later) return',
        to: 'if (false) return',
        red: whoever('looks at the send token some time before the change'),
      },
      {
        name: 'suite-without-the-stripped-key',
        file: suite('identity-probes'),
        from: "return sent.kind === 'done' ? broken(",
        to: "return saw === '' ? broken(",
        red: whoever('has an adapter that takes a reply without a mark for keyed'),
      },
      {
        name: 'suite-without-a-kill-at-work',
        file: suite('kills'),
        from: 'if (!isTwice && !isLost && !isForgotten) return null;',
        to: 'return null;',
        red: whoever('writes its record some time after the effect'),
      },
      {
        name: 'suite-without-time-for-keys',
        file: suite('record-probes'),
        from: 'if (count !== 1 || !isSameOutcome(first, again)) return',
        to: 'if (false) return',
        red: whoever('forgets keys before their time'),
      },
      {
        name: 'suite-without-lag',
        file: suite('inquiry-probes'),
        from: "if (inquiry === 'none' || inquiry.consistency === 'lagging' || slowestMs === 0)",
        to: 'if (slowestMs >= 0)',
        red: whoever('answers from a replica that lags behind'),
      },
      {
        name: 'suite-believes-any-outcome',
        file: suite('inquiry-probes'),
        from: 'if (!shows(answer, sent))',
        to: 'if (false)',
        red: whoever('names another outcome when it is asked'),
      },
      {
        name: 'suite-without-effects-of-asking',
        file: suite('inquiry-probes'),
        from: 'return before === 0 && after === 1 ? held(saw)',
        to: "return saw !== '' ? held(saw)",
        red: whoever('does what it is asked about'),
      },
      {
        name: 'suite-believes-a-negative-answer',
        file: suite('inquiry-probes'),
        from: 'return isNegative || isPositive || isEarly ? broken(saw, instead)',
        to: "return saw === '' ? broken(saw, instead)",
        red: whoever('takes "no record" for "not executed"'),
      },
    ],
  },
];
