import { describe, expect, test } from 'vitest';
import type { InquireCall, OpenRunCall, RecordCall } from '../../core/activity-calls.ts';
import { genesisBase } from '../../core/consumes.ts';
import { digestOf } from '../../core/digest.ts';
import { infraReplyOf } from '../../core/infra-reply.ts';
import { runResultOf } from '../../core/run-result.ts';
import { ACTION, binding, pinOf, RUN } from '../support/asks.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const ledger = memoryLedger();
const pin = pinOf(ledger);
const authority = {
  epoch: 1,
  revisions: { goal: 1, auth: 1 },
  revoked: false,
  canceled: false,
};
const head = { authority, pin };
const result = runResultOf(ledger.run(RUN), { end: { kind: 'completed' }, answer: null });
const digest = digestOf({ n: 11 });
const notExecuted = {
  ...{ kind: 'not_executed', actionId: ACTION, digest: null },
  ...{ reason: 'not_sent', message: 'nothing was sent' },
};
const executed = {
  ...{ kind: 'executed', actionId: ACTION, digest, externalId: null, calls: [] },
  result: { digest, bytes: 8 },
};
const walkEntry = {
  ...{ actionId: ACTION, position: 't1.c1', binding, payload: { digest, bytes: 3 } },
  ...{ outcome: notExecuted, openAttempts: [], attemptsEntered: 1, rolled: digest },
};

const openCall = { runId: RUN } as OpenRunCall;
const endCall = { runId: RUN } as never;
const asks: InquireCall = {
  ...{ runId: RUN, actionId: ACTION, mode: 'look', attemptIds: [] },
  ...{ wantsValue: false, pin: null },
};
const doubtCall: RecordCall = {
  ...{ kind: 'doubt', runId: RUN, actionId: ACTION, attemptId: 'a' },
  ...{ why: 'w', externalId: null, pin: null },
};
const revokeCall: RecordCall = {
  ...{ kind: 'revoke', runId: RUN, position: null, pin: null },
  command: { id: 'r', actor: 'ada', reason: 'no' },
};

const opened = {
  ...{ kind: 'open', ...head, catalog: [], model: null, walkNext: null },
  ...{ walk: [walkEntry], base: genesisBase(RUN) },
};
const doubted = { kind: 'doubt', state: 'closed', outcome: notExecuted, question: null, ...head };
const applied = { kind: 'applied', what: 'applied', why: null, ...head };
const looked = {
  ...{ outcome: notExecuted, openAttempts: [], permitted: false, disputed: false },
  ...{ abandoned: false, recordVersion: 3, verdict: null, canAsk: true, question: null, ...head },
};
const ended = { kind: 'ended', result };
const endRefused = { kind: 'refused', verdict: 'claim_stale', detail: null, ...head };
const openRefused = { kind: 'refused', reason: 'other_goal', message: 'choose another' };
const outcome = { ...notExecuted, actionId: `${RUN}.t2.c1` };

const rows = {
  openRun: (raw: unknown) => infraReplyOf('openRun', openCall, raw),
  endRun: (raw: unknown) => infraReplyOf('endRun', endCall, raw),
  inquire: (raw: unknown) => infraReplyOf('inquire', asks, raw),
  doubt: (raw: unknown) => infraReplyOf('recordFacts', doubtCall, raw),
  revoke: (raw: unknown) => infraReplyOf('recordFacts', revokeCall, raw),
};

test.each<[keyof typeof rows, unknown]>([
  ['openRun', opened],
  ['openRun', ended],
  ['openRun', openRefused],
  ['endRun', ended],
  ['endRun', endRefused],
  ['inquire', looked],
  ['inquire', { ...looked, outcome: null }],
  ['inquire', { ...looked, outcome: executed, value: { n: 11 } }],
  ['doubt', doubted],
  ['doubt', { ...doubted, outcome: null }],
  ['revoke', applied],
])('a reply of %s is taken as it is: %j', (name, raw) => {
  expect(rows[name](raw)).toBe(raw);
});

describe('what somebody completed the activity with is no reply: it is called again', () => {
  test.each<[string, keyof typeof rows, unknown]>([
    ['a bare kind', 'openRun', { kind: 'open' }],
    ['a refusal without reason', 'openRun', { kind: 'refused' }],
    ['no heads', 'openRun', { ...opened, authority: null, pin: null }],
    ['a walk of something', 'openRun', { ...opened, walk: [1] }],
    ['a result that is none', 'endRun', { kind: 'ended', result: 5 }],
    ['the result of another run', 'endRun', { kind: 'ended', result: { ...result, runId: 'x' } }],
    ['a kind nobody knows', 'doubt', { ...doubted, kind: 'done' }],
    ['heads alone', 'inquire', head],
    ['a question that is none', 'inquire', { ...looked, question: {} }],
    ['another value than was recorded', 'inquire', { ...looked, outcome: executed, value: 1 }],
    ['the outcome of another action', 'inquire', { ...looked, outcome }],
    ['the outcome of another action', 'doubt', { ...doubted, outcome }],
    ['the reply to another call', 'doubt', applied],
    ['the reply to another call', 'revoke', doubted],
    ['nothing', 'revoke', undefined],
    ['a word', 'revoke', 'done'],
  ])('%s for %s', (_what, name, raw) => {
    expect(rows[name](raw)).toBeNull();
  });
});
