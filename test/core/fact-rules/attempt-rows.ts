// Rules of the kinds that are about an attempt.

import { digestOf } from '../../../core/digest.ts';
import { ACTION, RUN } from '../../support/asks.ts';
import { askAndDecide } from '../../support/authority-story.ts';
import { bodies } from '../../support/fact-bodies.ts';
import type { MemoryLedger } from '../../support/memory-ledger.ts';
import { again, end, openAndEnter, rebuy, resolve, safe } from '../../support/story.ts';
import {
  canceled,
  ended,
  entered,
  enteredLedger,
  executed,
  type Given,
  type Make,
  nothing,
  opened,
  openedLedger,
  type Row,
  revoked,
  takenOver,
} from './given.ts';

const enter = bodies.attempt_entered;
const over =
  (extra: object): Make =>
  (l) => ({ ...enter(l), ...extra });
const approved: Given = (l) => {
  opened(l);
  askAndDecide(l, 'approve');
  askAndDecide(l, 'deny', { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~1' });
};
const decisionOf = (l: MemoryLedger, actionId = ACTION) =>
  l.run(RUN).actions.get(actionId)?.approvals[0]?.commandId;
export const enteredRows: Row[] = [
  [null, 'what was approved', approved, (l) => ({ ...enter(l), approval: decisionOf(l) })],
  [
    'nobody approved exactly this',
    'K-131 other bytes than were approved',
    approved,
    (l) => ({
      ...enter(l),
      approval: decisionOf(l),
      payload: { digest: digestOf('y'), bytes: 1 },
    }),
  ],
  [
    'nobody approved exactly this',
    'under another approval',
    approved,
    (l) => ({ ...enter(l), approval: 'another' }),
  ],
  [
    'nobody approved exactly this',
    'under a denial',
    approved,
    (l) => ({
      ...enter(openedLedger(), { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~2' }),
      approval: decisionOf(l, 'r.t2.c1'),
    }),
  ],
  [null, 'an attempt', opened, enter],
  [
    null,
    'a second attempt of a safe action',
    (l) => openAndEnter(l, safe),
    (l) => enter(l, { ...safe, ...again() }),
  ],
  [
    null,
    'a model call with a new context',
    (l) => openAndEnter(l, rebuy),
    (l) => ({
      ...enter(l, { ...rebuy, ...again() }),
      payload: { digest: digestOf('y'), bytes: 1 },
    }),
  ],
  ['the run is not open', 'no run', nothing, () => enter(openedLedger())],
  ['the run has ended', 'after the end', ended, () => enter(openedLedger())],
  [
    'the run is revoked or canceled',
    'revoked',
    revoked,
    (l) => ({ ...enter(openedLedger()), revisions: l.run(RUN).revisions }),
  ],
  ['the run is revoked or canceled', 'canceled', canceled, () => enter(openedLedger())],
  [
    'the epoch is not the claim’s',
    'another epoch',
    opened,
    over({ sendToken: { epoch: 2, number: 1 } }),
  ],
  [
    'the claim covers facts only',
    'a claim of facts',
    takenOver,
    () => ({ ...enter(openedLedger()), actionId: 'r.t2.c1', sendToken: { epoch: 2, number: 1 } }),
  ],
  [
    'decided under another authority revision',
    'auth',
    opened,
    over({ revisions: { goal: 1, auth: 2 } }),
  ],
  [
    'decided under another goal revision',
    'goal',
    opened,
    over({ revisions: { goal: 2, auth: 1 } }),
  ],
  [
    'attempt id and action id are the same',
    'R-015 one id',
    opened,
    over({ attemptId: ACTION, resultId: `${ACTION}.result` }),
  ],
  ['the attempt entered before', 'the same attempt', entered, () => enter(openedLedger())],
  ['the number does not follow', 'R-016 number 2 first', opened, over({ number: 2 })],
  [
    'the number does not follow',
    'R-016 number 1 twice',
    (l) => openAndEnter(l, safe),
    (l) => ({ ...enter(l, { ...safe, ...again() }), number: 1 }),
  ],
  [
    'the send token carries another number',
    'another token',
    opened,
    over({ sendToken: { epoch: 1, number: 2 } }),
  ],
  [
    'the result id is not the attempt’s',
    'R-023 another result id',
    opened,
    over({ resultId: 'elsewhere' }),
  ],
  [
    'an earlier attempt has another payload',
    'R-020 another payload',
    (l) => openAndEnter(l, safe),
    (l) => ({ ...enter(l, { ...safe, ...again() }), payload: { digest: digestOf('y'), bytes: 1 } }),
  ],
  [
    'consumes from a base that is not known',
    'a foreign base',
    opened,
    over({ consumes: { base: digestOf('x'), pairs: [] } }),
  ],
  ['the rolling digest does not fit', 'another rolled', opened, over({ rolled: digestOf('x') })],
  [
    'the permit is not there',
    'a permit nobody wrote, beside one that is there',
    (l) => {
      openAndEnter(l);
      resolve(l, { verb: 'authorize_retry' });
    },
    (l) => ({ ...enter(l, again()), permit: 'permit/x' }),
  ],
  ['the permit is not there', 'a permit nobody wrote', opened, over({ permit: 'permit/x' })],
  [
    'the action is final',
    'final',
    executed,
    () => ({ ...enter(openedLedger(), again()), number: 2, sendToken: { epoch: 1, number: 2 } }),
  ],
  [
    'the action is abandoned',
    'abandoned',
    (l) => {
      openAndEnter(l, safe);
      resolve(l, { verb: 'abandon' });
    },
    () => ({
      ...enter(openedLedger(), { ...safe, ...again() }),
      number: 2,
      sendToken: { epoch: 1, number: 2 },
    }),
  ],
];

const refuse = bodies.attempt_refused;
const asks = { bound: digestOf('this'), validForMs: null, versions: {} };
export const refusedRows: Row[] = [
  [null, 'a refusal', opened, refuse],
  [null, 'a refusal where no run is open', nothing, () => refuse(openedLedger())],
  ['the attempt has entered', 'of an entered attempt', entered, () => refuse(openedLedger())],
  [
    'entered is no refusal',
    'verdict entered',
    opened,
    (l) => ({ ...refuse(l), verdict: 'entered' }),
  ],
  [
    null,
    'what a person is asked to approve',
    opened,
    (l) => ({ ...refuse(l), verdict: 'approval_missing', asks }),
  ],
  [
    'asks for an approval without missing one',
    'a pause that asks',
    opened,
    (l) => ({ ...refuse(l), asks }),
  ],
];

const settled = bodies.attempt_settled;
const call = { callId: 'c', tool: 't', input: { digest: digestOf(1), bytes: 1 } };
const result = { digest: digestOf('r'), bytes: 3 };
const settledOver =
  (extra: object, ask: Parameters<typeof settled>[1] = {}): Make =>
  (l) => ({ ...settled(l, ask), ...extra });
export const settledRows: Row[] = [
  [null, 'executed with a result', entered, settled],
  [
    null,
    'executed, and why there is no result',
    entered,
    (l) => settled(l, { result: null, resultMissing: 'too big' }),
  ],
  [
    null,
    'a model reply with calls',
    (l) => openAndEnter(l, rebuy),
    (l) => settled(l, { calls: [call] }),
  ],
  [
    null,
    'late, after the end',
    (l) => {
      entered(l);
      end(l);
    },
    settled,
  ],
  ['result without intent', 'R-054 nothing entered', opened, () => settled(enteredLedger())],
  ['result without intent', 'R-054 another attempt', entered, settledOver({ attemptId: 'other' })],
  [
    'the attempt is settled',
    'twice',
    executed,
    () => settled(enteredLedger(), { outcome: 'not_sent' }),
  ],
  [
    'stored under another id than pre-allocated',
    'R-023 another id',
    entered,
    settledOver({ resultId: 'elsewhere' }),
  ],
  [
    'another revision than the intent’s',
    'R-108 another revision',
    entered,
    settledOver({ revisions: { goal: 1, auth: 2 } }),
  ],
  [
    'a result without `executed`',
    'refused with a result',
    entered,
    settledOver({ result }, { outcome: 'refused' }),
  ],
  [
    'executed needs a result, or the reason why it is missing',
    'neither',
    entered,
    settledOver({ result: null }),
  ],
  [
    'executed needs a result, or the reason why it is missing',
    'both',
    entered,
    settledOver({ resultMissing: 'lost' }),
  ],
  [
    'accepted without external id',
    'nothing to ask by',
    entered,
    settledOver({ externalId: null }, { outcome: 'accepted' }),
  ],
  [
    'partial without parts',
    'R-013 no parts',
    entered,
    settledOver({ parts: [] }, { outcome: 'partial' }),
  ],
  [
    'the receiver’s words belong to refused and not_taken, and only there',
    'refused in silence',
    entered,
    settledOver({ refusal: null }, { outcome: 'refused' }),
  ],
  [
    'the receiver’s words belong to refused and not_taken, and only there',
    'words without refusal',
    entered,
    settledOver({ refusal: { code: 'x', message: '' } }),
  ],
  ['only a model proposes calls', 'a tool with calls', entered, settledOver({ calls: [call] })],
];
