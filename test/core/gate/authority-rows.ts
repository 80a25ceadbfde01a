// The gate's rows on what is allowed now, and what is left to spend.

import { digestOf } from '../../../core/digest.ts';
import type { EntryAsk } from '../../../core/gate.ts';
import { binding, enter, open, payloadOf, settle } from '../../support/asks.ts';
import {
  amend,
  askAndDecide,
  forAnHour,
  forEver,
  planGoal,
} from '../../support/authority-story.ts';
import type { MemoryLedger } from '../../support/memory-ledger.ts';
import { actionOf } from '../../support/story.ts';
import { again, consuming, doubt, entered, minutes, opened, type Row, stop } from './given.ts';

const asked =
  (verb: 'approve' | 'deny', over: Partial<EntryAsk> = {}) =>
  (l: MemoryLedger) => {
    open(l);
    askAndDecide(l, verb, over);
  };
const versions = { object: 'v1', dependencies: 'd1', credentials: 'c1' };
/** The first attempt was decided on these versions, and had no effect. */
const notSent = (l: MemoryLedger) => {
  entered({ versions })(l);
  settle(l, { outcome: 'not_sent' });
};

export const authorityRows: Row[] = [
  { verdict: 'revoked', when: 'revoked', given: stop('revoke'), ask: () => ({}), leaves: 'closed' },
  {
    verdict: 'revoked',
    when: 'canceled',
    given: stop('cancel'),
    ask: () => ({}),
    leaves: 'closed',
  },
  {
    verdict: 'goal_stale',
    when: 'decided for another goal',
    given: (l) => {
      open(l);
      amend(l, { goal: planGoal });
    },
    ask: () => ({ revisions: { goal: 1, auth: 1 } }),
    leaves: 'closed',
  },
  {
    verdict: 'authority_stale',
    when: 'decided under another revision',
    given: opened,
    ask: () => ({ revisions: { goal: 1, auth: 0 } }),
    leaves: 'closed',
  },
  {
    verdict: 'not_granted',
    when: 'its purpose is not granted',
    given: (l) => void open(l, { grants: ['read', 'query', 'send', 'accept', 'compensate'] }),
    ask: () => ({}),
    leaves: 'closed',
  },
  {
    verdict: 'not_granted',
    when: 'it builds on what came late, and accept is not granted',
    given: (l) => {
      open(l, { grants: ['effect'] });
      enter(l);
      doubt(l);
      settle(l);
    },
    ask: (l) => consuming(l, Object(actionOf(l).final).digest),
    leaves: 'closed',
  },
  {
    verdict: 'not_granted',
    when: 'R-113 its tool found that the principal may not act',
    given: opened,
    ask: () => ({ denied: 'withdrawn' }),
    leaves: 'closed',
  },
  ...(
    [
      ['object', 'object_changed'],
      ['dependencies', 'dependencies_changed'],
      ['credentials', 'credentials_changed'],
    ] as const
  ).map(
    ([which, verdict]): Row => ({
      verdict,
      when: 'its version is another than the one first decided on',
      given: notSent,
      ask: () => ({ ...again, versions: { ...versions, [which]: 'another' } }),
      leaves: 'closed',
    }),
  ),
  {
    verdict: 'object_changed',
    when: 'its version is another than the one a person was asked about',
    given: asked('approve', { versions }),
    ask: () => ({ ...forEver, versions: { ...versions, object: 'v2' } }),
    leaves: 'closed',
  },
  {
    verdict: 'credentials_changed',
    when: 'its tool no longer names them',
    given: notSent,
    ask: () => ({ ...again, versions: { object: 'v1', dependencies: 'd1' } }),
    leaves: 'closed',
  },
  {
    verdict: 'approval_denied',
    when: 'a person said no',
    given: asked('deny'),
    ask: () => forEver,
    leaves: 'closed',
  },
  {
    verdict: 'approval_missing',
    when: 'nobody has decided',
    given: opened,
    ask: () => forEver,
    leaves: 'closed',
  },
  {
    verdict: 'approval_missing',
    when: 'K-130 the approval has expired as its tool declared',
    given: (l) => {
      asked('approve', forAnHour)(l);
      minutes(l, 60);
    },
    ask: () => forAnHour,
    leaves: 'closed',
  },
  {
    verdict: 'approval_mismatch',
    when: 'K-131 other bytes were approved than would be sent',
    given: asked('approve'),
    ask: () => ({ ...forEver, payload: payloadOf({ amount: 20 }) }),
    leaves: 'closed',
  },
  {
    verdict: 'approval_mismatch',
    when: 'K-130 another tool was approved than would be sent to',
    given: asked('approve'),
    ask: () => ({ ...forEver, binding: { ...binding, digest: digestOf('another') } }),
    leaves: 'closed',
  },
  {
    verdict: 'entered',
    when: 'exactly this was approved',
    given: asked('approve'),
    ask: () => forEver,
    leaves: 'entered',
  },
  {
    verdict: 'entered',
    when: 'nothing it depends on has changed',
    given: notSent,
    ask: () => ({ ...again, versions }),
    leaves: 'entered',
  },
];

export const budgetRows: Row[] = [
  {
    verdict: 'budget_exhausted',
    when: 'its reserve does not fit',
    given: (l) => void open(l, { budget: { requests: 0, onExhausted: 'ask' } }),
    ask: () => ({ reserve: { requests: 1, tokens: 0, money: null } }),
    leaves: 'closed',
  },
];
