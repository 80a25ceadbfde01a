// What an answer of the receiver allows. Would catch a resend on a question that failed, beside a
// request that is still at work, or under a key that the receiver does not take any more.

import { describe, expect, test } from 'vitest';
import { afterAttempt } from '../../core/after-attempt.ts';
import type { AttemptContext, AttemptEnd, NextStep } from '../../core/attempt-end.ts';
import { fullJitter, inquiryBackoff } from '../../core/backoff.ts';
import { digestOf } from '../../core/digest.ts';
import { type InquiryVerdict, inquiryVerdictSchema } from '../../core/fact-fields.ts';
import { limits } from '../../core/limits.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { ReplayPolicy } from '../../core/tool-policy.ts';
import type { Refusal } from '../../core/verdict.ts';

const actionId = 'invoice-42.t1.c1';
const context: AttemptContext = {
  actionId,
  replay: 'keyed',
  stop: null,
  attempts: 1,
  attemptsMax: 5,
  infra: 0,
  rereads: 0,
  open: 1,
  inquiries: 1,
  keyRefused: false,
  continues: false,
  now: 1_000,
  deadlineAt: 900_000,
  onExhausted: 'ask',
  random: 0.5,
};

type Inquiry = AttemptEnd & { kind: 'inquiry' };
const inquiry = (more: Partial<Inquiry>): Inquiry => ({
  kind: 'inquiry',
  ifOpen: 'ask',
  outcome: null,
  openAttempts: ['a~1'],
  permitted: false,
  disputed: false,
  abandoned: false,
  verdict: null,
  ...more,
});
const inDoubt: AttemptEnd = { kind: 'doubt', state: 'in_doubt', outcome: null, burns: 'attempt' };

/** What an inquiry's answer leads to when the action is open after it, as after a lost reply. */
function afterAnswer(verdict: InquiryVerdict | null, over: Partial<AttemptContext> = {}): NextStep {
  const asked = { ...context, ...over };
  const step = afterAttempt(inDoubt, asked);
  if (step.kind !== 'inquire') return step;
  return afterAttempt(inquiry({ verdict, ifOpen: step.ifOpen }), asked);
}

type Kinds = Record<ReplayPolicy, NextStep['kind']>;
const person: Kinds = { never: 'ask', keyed: 'ask', safe: 'retry', rebuy: 'retry' };
const resend: Kinds = { ...person, keyed: 'retry' };
const waits: Kinds = { ...person, keyed: 'inquire_again' };
const table: Record<InquiryVerdict, Kinds> = {
  executed: person,
  not_executed: resend,
  processing: waits,
  no_record: resend,
  partial: person,
  conflict: person,
  unavailable: waits,
  forbidden: person,
};
const policies = ['never', 'keyed', 'safe', 'rebuy'] as const;
const cells = inquiryVerdictSchema.options.flatMap((verdict) =>
  policies.map((replay) => [verdict, replay, table[verdict][replay]] as const),
);

describe('R-036 still open after an answer', () => {
  test.each(cells)('%s under %s: %s', (verdict, replay, kind) => {
    expect(afterAnswer(verdict, { replay }).kind).toBe(kind);
  });

  test('a receiver that cannot be asked: the same key is sent again', () => {
    expect(afterAnswer(null).kind).toBe('retry');
  });

  test.each(['processing', 'unavailable'] as const)(
    'D13 %s again and again: asked ever more patiently, then a person, and nothing is sent',
    (verdict) => {
      const steps = Array.from({ length: limits.inquiriesBeforeQuestion }, (_, no) =>
        afterAnswer(verdict, { inquiries: no + 1 }),
      );
      const waited = steps.slice(0, -1).map((step) => 'afterMs' in step && step.afterMs);
      const patience = waited.map((_, no) => fullJitter(inquiryBackoff, no + 1, context.random));
      expect(waited).toEqual(patience);
      expect(steps.at(-1)).toEqual({ kind: 'ask' });
    },
  );

  test.each(['processing', 'unavailable'] as const)('%s after a stop: a person', (verdict) => {
    const end = inquiry({ verdict, ifOpen: 'resend' });
    expect(afterAttempt(end, { ...context, stop: 'revoked' })).toEqual({ kind: 'ask' });
  });
});

describe('R-027 a key that the receiver does not take any more', () => {
  const refused = { ...context, keyRefused: true };
  const none: Outcome = {
    ...{ kind: 'not_executed', actionId, digest: null },
    ...{ reason: 'not_executed', message: 'proved or stated to have had no effect' },
  };

  test.each(inquiryVerdictSchema.options)('is not used again on %s', (verdict) => {
    expect(afterAnswer(verdict, { keyRefused: true })).toEqual({ kind: 'ask' });
  });

  test('is not used again for what is proved not to be executed: that is the outcome', () => {
    const end = inquiry({ openAttempts: [], outcome: none });
    expect(afterAttempt(end, refused)).toEqual({ kind: 'done', outcome: none });
    expect(afterAttempt(end, context).kind).toBe('retry');
  });

  test('is not used to go on with what is half done', () => {
    const end = inquiry({ openAttempts: [], continuable: true });
    expect(afterAttempt(end, refused)).toEqual({ kind: 'ask' });
  });

  test('is used again where a person lets it', () => {
    const end = inquiry({ permitted: true });
    expect(afterAttempt(end, refused)).toEqual({ kind: 'retry', afterMs: 0 });
  });
});

const digest = digestOf('x');
const executed: Outcome = {
  ...{ kind: 'executed', actionId, digest, externalId: 'T-1' },
  ...{ result: { digest, bytes: 2 }, calls: [] },
};
/** Each row is the first that holds: what stands above it is not the case in it. */
const order: readonly [string, Partial<Inquiry>, NextStep['kind']][] = [
  [
    '1 the recorded outcome',
    { outcome: executed, permitted: true, verdict: 'unavailable' },
    'done',
  ],
  [
    '2 and 3 a closed door, or a settled proof: nothing is open, and it may go again',
    {
      openAttempts: [],
      outcome: {
        ...{ kind: 'not_executed', actionId, digest: null },
        ...{ reason: 'not_executed', message: 'proved' },
      },
    },
    'retry',
  ],
  ['4 the same key, within its lifetime', { verdict: 'no_record', ifOpen: 'resend' }, 'retry'],
  ['5 a person, where the key has expired', { verdict: 'no_record', ifOpen: 'ask' }, 'ask'],
  [
    '5 a person, where there is no answer to act on',
    { verdict: 'conflict', ifOpen: 'resend' },
    'ask',
  ],
];

describe('D4 the order of resolution', () => {
  test.each(order)('%s', (_what, more, kind) => {
    expect(afterAttempt(inquiry(more), context).kind).toBe(kind);
  });

  test('asks the receiver before the key is used, and never under another key', () => {
    expect(afterAttempt(inDoubt, context)).toEqual({
      kind: 'inquire',
      mode: 'ask',
      ifOpen: 'resend',
    });
  });

  test('asks the receiver, then a person, once the gate says that the key has expired', () => {
    const reply: AttemptEnd = {
      ...{ kind: 'reply', verdict: 'retention_expired', detail: null },
      ...{ settled: null, outcome: null, retryAfterMs: null },
    };
    const step = afterAttempt(reply, context);
    expect(step).toEqual({ kind: 'inquire', mode: 'ask', ifOpen: 'ask' });
    expect(afterAttempt(inquiry({ verdict: 'no_record' }), context)).toEqual({ kind: 'ask' });
  });
});

describe('R-013 half done', () => {
  const half = inquiry({ openAttempts: [], continuable: true });
  const settled: AttemptEnd = {
    ...{ kind: 'reply', verdict: 'entered', detail: null },
    ...{ settled: 'partial', outcome: null, retryAfterMs: null },
  };

  test.each([
    ['its tool cannot go on: the receiver is asked on', settled, {}, 'poll'],
    ['its tool goes on: the next attempt', settled, { continues: true }, 'retry'],
    ['the receiver says so, and its tool goes on: the next attempt', half, {}, 'retry'],
    ['after a stop nothing goes on', half, { stop: 'revoked' }, 'stop'],
    ['no attempts left: a person', half, { attempts: 5 }, 'ask'],
    [
      'no attempts left and nothing known to be open: a person',
      half,
      { attempts: 5, open: 0 },
      'ask',
    ],
    ['no time left: a person', settled, { continues: true, now: 899_999 }, 'ask'],
    ['an attempt is open: not gone on beside it', { ...half, openAttempts: ['a~2'] }, {}, 'ask'],
  ] as const)('%s', (_when, end, over, kind) => {
    expect(afterAttempt(end as AttemptEnd, { ...context, ...over }).kind).toBe(kind);
  });

  test('the receiver’s retry-after is a floor under the wait', () => {
    const later = { ...settled, retryAfterMs: 30_000 };
    const step = afterAttempt(later, { ...context, continues: true });
    expect(step).toEqual({ kind: 'retry', afterMs: 30_000 });
  });

  test.each(policies)('is never called not executed under %s, whatever is spent', (replay) => {
    const spent = { ...context, replay, continues: true, attempts: 5, open: 0 };
    for (const end of [half, settled]) expect(afterAttempt(end, spent)).toEqual({ kind: 'ask' });
  });
});

describe('R-049 stop conditions with an old request open', () => {
  const gate = (verdict: Refusal): AttemptEnd => ({
    ...{ kind: 'reply', verdict, detail: null },
    ...{ settled: null, outcome: null, retryAfterMs: null },
  });
  test.each<[string, AttemptEnd, Partial<AttemptContext>, NextStep['kind']]>([
    [
      'the receiver is unknown for long',
      inquiry({ verdict: 'unavailable', ifOpen: 'resend' }),
      { inquiries: limits.inquiriesBeforeQuestion },
      'ask',
    ],
    ['retention is near', gate('retention_expired'), {}, 'inquire'],
    ['the version of the object changed', gate('object_changed'), {}, 'ask'],
    ['what it undoes turned out to be nothing', gate('nothing_to_compensate'), {}, 'ask'],
    [
      'no attempts are left',
      inquiry({ verdict: 'no_record', ifOpen: 'resend' }),
      { attempts: 5 },
      'ask',
    ],
    [
      'the deadline has passed',
      inquiry({ verdict: 'no_record', ifOpen: 'resend' }),
      { now: 900_000 },
      'ask',
    ],
    [
      'the run stops',
      inquiry({ verdict: 'no_record', ifOpen: 'resend' }),
      { stop: 'canceled' },
      'stop',
    ],
  ])('%s: neither sent again nor called not executed', (_when, end, over, kind) => {
    expect(afterAttempt(end, { ...context, ...over }).kind).toBe(kind);
  });
});
