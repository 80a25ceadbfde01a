// Rules of facts that name another action: what one undoes, and what one is not; and of disputes.

import { digestOf } from '../../../core/digest.ts';
import { ACTION, enter as entersAt, open, settle } from '../../support/asks.ts';
import { bodies } from '../../support/fact-bodies.ts';
import { type MemoryLedger, memoryLedger } from '../../support/memory-ledger.ts';
import { doubt } from '../../support/story.ts';
import {
  entered,
  enteredLedger,
  executed,
  type Given,
  type Make,
  opened,
  type Row,
} from './given.ts';

const other = 'r.t2.c1';
const enter = bodies.attempt_entered;
const undoing: Make = (l) => ({
  ...enter(l, { actionId: other, attemptId: `${other}~1` }),
  compensates: { actionId: ACTION, objectVersion: 'v1' },
});
const settled =
  (outcome: 'accepted' | 'refused' | 'partial'): Given =>
  (l) => {
    entered(l);
    settle(l, { outcome });
  };
const nothingThere = 'compensates what is open, or had no effect';
export const compensatingRows: Row[] = [
  [null, 'R-119 undoes what was executed', executed, undoing],
  [null, 'R-119 undoes what was executed in part', settled('partial'), undoing],
  [nothingThere, 'D12 undoes what is open', entered, undoing],
  [nothingThere, 'D12 undoes what the receiver is at', settled('accepted'), undoing],
  [nothingThere, 'R-119 undoes what the receiver refused', settled('refused'), undoing],
  [nothingThere, 'R-119 undoes what is no action of the run', opened, undoing],
];

const refuse = bodies.attempt_refused;
export const twinRows: Row[] = [
  [null, 'R-019 waits for its twin', opened, (l) => twin(l, 'twin_unknown')],
  ['a twin without waiting for it', 'R-019 paused', opened, (l) => twin(l, 'attempt_not_current')],
];
function twin(ledger: MemoryLedger, verdict: 'twin_unknown' | 'attempt_not_current') {
  return { ...refuse(ledger), verdict, twin: other };
}

/** The second action waits for the first, which is in doubt. */
const waiting: Given = (l) => {
  open(l);
  const alike = { intentDigest: digestOf('alike') };
  entersAt(l, { ...alike, actionId: other, attemptId: `${other}~1` });
  doubt(l, `${other}~1`);
  entersAt(l, alike);
};
const answer = bodies.resolution;
const distinct = (over: object = {}): Make => {
  const body = { ...answer(enteredLedger(), 'abandon'), recordVersion: 1 };
  return () => ({ ...body, verb: 'confirm_distinct', distinctFrom: other, ...over });
};
const names = 'what is distinct names another action, and nothing else does';
export const distinctRows: Row[] = [
  [null, 'R-019 another wish than the one it waits for', waiting, distinct()],
  [names, 'R-019 distinct from nothing', waiting, distinct({ distinctFrom: undefined })],
  [names, 'R-019 distinct from itself', waiting, distinct({ distinctFrom: ACTION })],
  [
    names,
    'R-019 an answer to something else',
    entered,
    (l) => ({ ...answer(l), distinctFrom: other }),
  ],
  ['permits come by retry only', 'D8 distinct, with a permit', waiting, distinct({ permit: 'p' })],
];

const disputed: Given = (l) => {
  executed(l);
  settle(l, { externalId: 'ext-2' });
};
const settling =
  (over: object = {}): Make =>
  (l) => ({ ...answer(l, 'settle_dispute'), ...over });
const elsewhere: Make = () => {
  const ledger = memoryLedger();
  disputed(ledger);
  return { ...answer(ledger, 'settle_dispute'), recordVersion: 1 };
};
const result = { digest: digestOf('r'), bytes: 3 };
const states = 'a settled dispute states what holds, and nothing else does';
export const disputeRows: Row[] = [
  [null, 'D9 executed after all', disputed, settling()],
  [null, 'D9 executed, with its result', disputed, settling({ result })],
  [null, 'D9 not executed after all', disputed, settling({ states: 'not_executed' })],
  [states, 'D9 nothing stated', disputed, settling({ states: undefined })],
  [states, 'D9 an answer that states it', entered, (l) => ({ ...answer(l), states: 'executed' })],
  ['there is no dispute', 'D9 nothing contradicts', executed, elsewhere],
  [
    'a result without an effect',
    'D9 of nothing',
    disputed,
    settling({ states: 'not_executed', result }),
  ],
  [
    'evidence missing, or without a claim',
    'R-039 a bare word',
    disputed,
    settling({ evidence: null }),
  ],
  ['permits come by retry only', 'D8 a permit beside it', disputed, settling({ permit: 'p' })],
];
