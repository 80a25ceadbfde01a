import { describe, expect, test } from 'vitest';
import { afterAttempt, verdictTable } from '../../core/after-attempt.ts';
import {
  type AttemptContext,
  type AttemptEnd,
  type FailureKind,
  failureKinds,
  type NextStep,
} from '../../core/attempt-end.ts';
import { digestOf } from '../../core/digest.ts';
import type { Outcome } from '../../core/outcome.ts';
import { closingReasons, gateVerdicts, type Refusal } from '../../core/verdict.ts';

const actionId = 'invoice-42.t1.c1';
const digest = digestOf('x');
const executed: Outcome = {
  kind: 'executed',
  actionId,
  digest,
  result: { digest, bytes: 2 },
  externalId: 'T-1',
  calls: [],
};
const nothingOpen: Outcome = {
  kind: 'not_executed',
  actionId,
  digest: null,
  reason: 'not_taken',
  message: '429',
};
const refusedByReceiver: Outcome = { ...nothingOpen, digest, reason: 'refused' };

const calm: AttemptContext = {
  actionId,
  replay: 'never',
  stop: null,
  attempts: 1,
  attemptsMax: 5,
  infra: 1,
  rereads: 0,
  open: 0,
  inquiries: 0,
  keyRefused: false,
  continues: false,
  now: 1_000,
  deadlineAt: 900_000,
  onExhausted: 'ask',
  random: 0.5,
};

type Reply = AttemptEnd & { kind: 'reply' };
type Asked = AttemptEnd & { kind: 'inquiry' };

function reply(verdict: Refusal, more: Partial<Reply> = {}): Reply {
  return {
    kind: 'reply',
    verdict,
    detail: null,
    settled: null,
    outcome: null,
    retryAfterMs: null,
    ...more,
  };
}

function failure(kind: FailureKind): AttemptEnd {
  return { kind: 'failure', failure: kind, phase: 'execute', why: 'a reason' };
}

function inquiry(more: Partial<Asked> = {}): Asked {
  return {
    kind: 'inquiry',
    ifOpen: 'ask',
    outcome: null,
    openAttempts: [],
    permitted: false,
    disputed: false,
    abandoned: false,
    verdict: null,
    ...more,
  };
}

const retryAfterHalfASecond: NextStep = { kind: 'retry', afterMs: 501 };
const infraRetry: NextStep = { kind: 'infra_retry', afterMs: 501 };
const doubt: NextStep = { kind: 'doubt', burns: 'attempt' };
const stop = (reason: (NextStep & { kind: 'stop' })['reason']): NextStep => ({
  kind: 'stop',
  reason,
});

const verdictRows: readonly [Refusal, NextStep][] = [
  ['ledger_mismatch', stop('ledger_mismatch')],
  ['disputed', stop('disputed')],
  ['already_final', doubt],
  ['payload_conflict', stop('payload_conflict')],
  ['entered_again', doubt],
  ['attempt_reused', doubt],
  ['attempt_closed', retryAfterHalfASecond],
  ['run_not_open', { kind: 'reread_authority', afterMs: 0 }],
  ['claim_stale', { kind: 'reread_authority', afterMs: 0 }],
  ['claim_facts_only', { kind: 'reread_authority', afterMs: 501 }],
  ['run_ended', { kind: 'reread_authority', afterMs: 0 }],
  ['retention_expired', { kind: 'inquire', mode: 'ask', ifOpen: 'ask' }],
  ['action_in_doubt', { kind: 'inquire', mode: 'look', ifOpen: 'not_again' }],
  ['predecessor_open', { kind: 'settle_predecessors' }],
  ['predecessor_mismatch', stop('predecessor_mismatch')],
  ['attempt_not_current', retryAfterHalfASecond],
  ['authority_unavailable', infraRetry],
  ['revoked', stop('revoked')],
  ['goal_stale', { kind: 'reread_authority', afterMs: 0 }],
  ['authority_stale', { kind: 'reread_authority', afterMs: 0 }],
  ['not_granted', notExecuted('not_granted', 'the gate refused it')],
  ['object_changed', notExecuted('object_changed', 'the gate refused it')],
  ['dependencies_changed', notExecuted('dependencies_changed', 'the gate refused it')],
  ['credentials_changed', notExecuted('credentials_changed', 'the gate refused it')],
  ['approval_denied', notExecuted('approval_denied', 'the gate refused it')],
  ['approval_missing', { kind: 'await_approval' }],
  ['approval_mismatch', notExecuted('approval_mismatch', 'the gate refused it')],
  ['twin_unknown', infraRetry],
  ['compensates_open', infraRetry],
  ['nothing_to_compensate', notExecuted('nothing_to_compensate', 'the gate refused it')],
  ['binding_changed', stop('binding_changed')],
  ['budget_exhausted', { kind: 'await_budget' }],
  ['entered', doubt],
  ['invalid_input', notExecuted('invalid_input', 'the gate refused it')],
  ['policy_changed', stop('binding_changed')],
  ['closed_by_inquiry', retryAfterHalfASecond],
];

function notExecuted(reason: string, message: string): NextStep {
  return {
    kind: 'done',
    outcome: { kind: 'not_executed', actionId, digest: null, reason, message },
  };
}

describe('a verdict of the gate', () => {
  test.each(verdictRows)('R-049 %s with no outcome', (verdict, expected) => {
    expect(afterAttempt(reply(verdict), calm)).toEqual(expected);
  });

  test('the rows are exactly the verdicts and closing reasons, in their order', () => {
    const all = [...gateVerdicts, ...closingReasons];
    expect(verdictRows.map(([verdict]) => verdict)).toEqual(all);
    expect(Object.keys(verdictTable)).toEqual(all);
  });

  test.each(['entered', 'entered_again', 'already_final'] as const)(
    '%s with the final outcome of the action adopts it',
    (verdict) => {
      const end = reply(verdict, { outcome: executed, settled: 'executed' });
      expect(afterAttempt(end, calm)).toEqual({ kind: 'done', outcome: executed });
    },
  );

  test.each([
    ['not_taken', { kind: 'retry', afterMs: 501 }],
    ['not_sent', { kind: 'retry', afterMs: 501 }],
    ['accepted', { kind: 'poll' }],
    ['partial', { kind: 'poll' }],
    ['refused', { kind: 'ask' }],
    ['executed', doubt],
    [null, doubt],
  ] as const)('entered, settled as %s, nothing final', (settled, expected) => {
    expect(afterAttempt(reply('entered', { settled, outcome: nothingOpen }), calm)).toEqual(
      expected,
    );
  });

  test('R-048 the receiver’s retry-after is a floor under the jitter', () => {
    const end = reply('entered', { settled: 'not_taken', retryAfterMs: 7_000 });
    expect(afterAttempt(end, calm)).toEqual({ kind: 'retry', afterMs: 7_000 });
  });

  test('the detail of a refused input becomes the message', () => {
    expect(afterAttempt(reply('invalid_input', { detail: 'amount: a number' }), calm)).toEqual(
      notExecuted('invalid_input', 'amount: a number'),
    );
  });

  test('a third re-read of the authority in a row is a stale claim', () => {
    expect(afterAttempt(reply('claim_stale'), { ...calm, rereads: 2 })).toEqual(
      stop('claim_stale'),
    );
  });

  test('a claim of facts only is read again, ever more patiently, and never given up', () => {
    const step = afterAttempt(reply('claim_facts_only'), { ...calm, rereads: 9 });
    expect(step).toEqual({ kind: 'reread_authority', afterMs: 128_001 });
  });
});

describe('a failure', () => {
  const failureRows: readonly [FailureKind, NextStep][] = [
    ['schedule_to_start', doubt],
    ['start_to_close', doubt],
    ['heartbeat', doubt],
    ['schedule_to_close', doubt],
    ['canceled', doubt],
    ['not_scheduled', retryAfterHalfASecond],
    ['application', doubt],
    ['server', doubt],
    ['unreadable_reply', doubt],
    ['overdue', doubt],
  ];
  test.each(failureRows)('R-004 R-006 %s', (kind, expected) => {
    expect(afterAttempt(failure(kind), calm)).toEqual(expected);
  });

  test('the rows are exactly the kinds', () => {
    expect(failureRows.map(([kind]) => kind)).toEqual([...failureKinds]);
  });

  test.each(['binding', 'barrier', 'gate'] as const)(
    'R-007 an application failure in phase %s is asked about, and burns no attempt',
    (phase) => {
      const end = { kind: 'failure', failure: 'application', phase, why: 'no ledger' } as const;
      expect(afterAttempt(end, calm)).toEqual({ kind: 'doubt', burns: 'infrastructure' });
    },
  );
});

describe('the ledger’s answer to a doubt', () => {
  const answer = (
    state: 'in_doubt' | 'closed' | 'settled',
    outcome: Outcome | null = null,
    burns: 'attempt' | 'infrastructure' = 'attempt',
  ): AttemptEnd => ({ kind: 'doubt', state, outcome, burns });

  test('R-006 closed is a proof: it may be tried again', () => {
    expect(afterAttempt(answer('closed'), calm)).toEqual(retryAfterHalfASecond);
  });
  test('R-042 closed after an infrastructure failure burns no attempt', () => {
    expect(afterAttempt(answer('closed', null, 'infrastructure'), calm)).toEqual(infraRetry);
  });
  test('settled meanwhile with a final outcome is adopted', () => {
    expect(afterAttempt(answer('settled', executed), calm)).toEqual({
      kind: 'done',
      outcome: executed,
    });
  });
  test('settled without a final outcome is looked up', () => {
    expect(afterAttempt(answer('settled', nothingOpen), calm)).toEqual({
      kind: 'inquire',
      mode: 'look',
      ifOpen: 'ask',
    });
  });
  test('R-004 R-047 in doubt under never: asked, never sent again', () => {
    expect(afterAttempt(answer('in_doubt'), { ...calm, open: 1 })).toEqual({ kind: 'ask' });
  });
  test.each(['safe', 'rebuy'] as const)('R-011 R-116 in doubt under %s: tried again', (replay) => {
    expect(afterAttempt(answer('in_doubt'), { ...calm, replay, open: 1 })).toEqual(
      retryAfterHalfASecond,
    );
  });
  test('in doubt under keyed: the receiver is asked before the same key is sent again', () => {
    const step = afterAttempt(answer('in_doubt'), { ...calm, replay: 'keyed', open: 1 });
    expect(step).toEqual({ kind: 'inquire', mode: 'ask', ifOpen: 'resend' });
  });
  test('R-108 in doubt under keyed after a revoke: the question is opened, nothing is sent', () => {
    const context = { ...calm, replay: 'keyed', open: 1, stop: 'revoked' } as const;
    expect(afterAttempt(answer('in_doubt'), context)).toEqual({ kind: 'ask' });
  });
});

describe('an inquiry', () => {
  const open = { openAttempts: ['a~1'] };
  test.each([
    [
      'a final outcome is adopted',
      inquiry({ outcome: executed }),
      { kind: 'done', outcome: executed },
    ],
    [
      'a refusal by the receiver is final',
      inquiry({ outcome: refusedByReceiver }),
      { kind: 'done', outcome: refusedByReceiver },
    ],
    ['a dispute stops', inquiry({ disputed: true, outcome: executed }), stop('disputed')],
    [
      'R-049 abandoned stays unknown',
      inquiry({ ...open, abandoned: true }),
      {
        kind: 'done',
        outcome: { kind: 'unknown', actionId, reason: 'abandoned by a person', abandoned: true },
      },
    ],
    [
      'a permit lets one more attempt go',
      inquiry({ ...open, permitted: true }),
      { kind: 'retry', afterMs: 0 },
    ],
    ['R-047 still open under never is waited for', inquiry(open), { kind: 'ask' }],
    [
      'still open before a resend is sent again',
      inquiry({ ...open, ifOpen: 'resend' }),
      retryAfterHalfASecond,
    ],
    ['nothing open and nothing known is polled', inquiry(), { kind: 'poll' }],
    [
      'nothing open and not executed is tried again',
      inquiry({ outcome: nothingOpen }),
      retryAfterHalfASecond,
    ],
    [
      'not executed on record, and the gate would not repeat it: that is the outcome',
      inquiry({ outcome: nothingOpen, ifOpen: 'not_again' }),
      { kind: 'done', outcome: nothingOpen },
    ],
  ] as const)('%s', (_name, end, expected) => {
    expect(afterAttempt(end, calm)).toEqual(expected);
  });

  test('R-011 still open under safe is tried again', () => {
    expect(afterAttempt(inquiry(open), { ...calm, replay: 'safe' })).toEqual(retryAfterHalfASecond);
  });
});

describe('limits', () => {
  const spent = { ...calm, attempts: 5 };
  test.each([
    ['attempts', spent],
    ['time', { ...calm, now: 899_700 }],
  ])('R-048 R-049 no %s left and nothing open: not executed', (_name, context) => {
    const end = reply('entered', { settled: 'not_sent', outcome: nothingOpen });
    expect(afterAttempt(end, context)).toEqual(
      notExecuted('not_sent', 'no attempt got further: not_sent'),
    );
  });
  test.each(['never', 'keyed'] as const)(
    'R-049 no attempts left and one open under %s: a person is asked',
    (replay) => {
      const end = inquiry({ openAttempts: ['a~1'], ifOpen: 'resend' });
      expect(afterAttempt(end, { ...spent, replay, open: 1 })).toEqual({ kind: 'ask' });
    },
  );
  test.each(['safe', 'rebuy'] as const)(
    'R-049 no attempts left and some open under %s: unknown, never failed',
    (replay) => {
      const end: AttemptEnd = { kind: 'doubt', state: 'in_doubt', outcome: null, burns: 'attempt' };
      expect(afterAttempt(end, { ...spent, replay, open: 5 })).toEqual({
        kind: 'done',
        outcome: {
          kind: 'unknown',
          actionId,
          reason: '5 attempts without a reply, none left',
          abandoned: false,
        },
      });
    },
  );
});

describe('after a stop', () => {
  const revoked = { ...calm, stop: 'revoked' } as const;
  const schedules: ReadonlySet<NextStep['kind']> = new Set([
    'retry',
    'infra_retry',
    'settle_predecessors',
    'reread_authority',
  ]);

  test('R-108 R-109 no end of an attempt leads to scheduling anything', () => {
    const ends: AttemptEnd[] = [
      ...verdictRows.map(([verdict]) => reply(verdict)),
      ...failureKinds.map(failure),
      reply('entered', { settled: 'not_taken' }),
      inquiry({ permitted: true, openAttempts: ['a~1'] }),
      inquiry({ ifOpen: 'resend', openAttempts: ['a~1'] }),
      inquiry({ outcome: nothingOpen }),
      { kind: 'doubt', state: 'closed', outcome: null, burns: 'infrastructure' },
      { kind: 'doubt', state: 'closed', outcome: null, burns: 'attempt' },
    ];
    for (const replay of ['never', 'safe', 'keyed', 'rebuy'] as const)
      for (const end of ends) {
        const step = afterAttempt(end, { ...revoked, replay });
        expect(schedules.has(step.kind), JSON.stringify(end)).toBe(false);
      }
  });

  test('R-110 a result that came all the same is kept', () => {
    const end = reply('entered', { settled: 'executed', outcome: executed });
    expect(afterAttempt(end, revoked)).toEqual({ kind: 'done', outcome: executed });
  });

  test('the run’s own reason stands before the gate’s', () => {
    expect(afterAttempt(reply('revoked'), { ...calm, stop: 'canceled' })).toEqual(stop('canceled'));
  });
});
