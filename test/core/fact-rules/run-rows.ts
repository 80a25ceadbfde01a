// Rules of the kinds that are about a run.

import { digestOf } from '../../../core/digest.ts';
import type { FactBody } from '../../../core/facts.ts';
import { limits } from '../../../core/limits.ts';
import { ACTION, RUN, settle } from '../../support/asks.ts';
import { bodies } from '../../support/fact-bodies.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { change, end, openAndEnter, safe } from '../../support/story.ts';
import {
  ended,
  entered,
  executed,
  type Given,
  type Make,
  nothing,
  opened,
  openedLedger,
  type Row,
  revoked,
  takenOver,
  ticketed,
} from './given.ts';

const run = bodies.run_opened;
const claim = { owner: 'w', firstExecutionRunId: 'exec-2', oldExecutor: 'may run' };
const takeover: Make = (ledger) => ({
  ...run(memoryLedger()),
  claim: { ...claim, scope: 'facts', ticket: 'ticket-1' },
  epoch: 2,
  revisions: ledger.run(RUN).revisions,
});
export const openedRows: Row[] = [
  [null, 'the first opening', nothing, run],
  [null, 'a takeover with its ticket', ticketed, takeover],
  [
    null,
    'effects after facts in one epoch',
    takenOver,
    (l) =>
      ({ ...takeover(l), claim: { ...claim, scope: 'effects', ticket: 'ticket-1' } }) as FactBody,
  ],
  ['the run has ended', 'after the end', ended, () => run(memoryLedger())],
  [
    'opens under another authority revision',
    'before a revoke',
    (l) => change(l, 'revoke'),
    () => run(memoryLedger()),
  ],
  [
    'opens under another goal revision',
    'another goal revision',
    nothing,
    (l) => ({ ...run(l), revisions: { goal: 2, auth: 1 } }),
  ],
  [
    'has another goal',
    'another goal',
    ticketed,
    (l) => ({ ...takeover(l), goal: { digest: digestOf('x'), bytes: 1 } }) as FactBody,
  ],
];
const outOfOrder: readonly (readonly [string, Given, Make])[] = [
  ['a first epoch 2', nothing, (l) => ({ ...run(l), epoch: 2 })],
  [
    'a ticket nobody wrote',
    nothing,
    (l) => ({ ...run(l), claim: { ...run(l).claim, ticket: 't' } }),
  ],
  [
    'a takeover without a ticket',
    entered,
    (l) => ({ ...takeover(l), claim: { ...claim, scope: 'facts', ticket: null } }) as FactBody,
  ],
  ['a ticket used twice', takenOver, (l) => ({ ...takeover(l), epoch: 3 }) as FactBody],
  ['an epoch left out', ticketed, (l) => ({ ...takeover(l), epoch: 3 }) as FactBody],
  ['the same epoch once more', entered, () => run(memoryLedger())],
  ['facts again in one epoch', takenOver, takeover],
];

openedRows.push(
  ...outOfOrder.map(
    ([when, given, make]): Row => [
      'the epoch does not follow, or its ticket is not there',
      when,
      given,
      make,
    ],
  ),
);

const authority = bodies.authority_changed;
const changed =
  (extra: object): Make =>
  (l) => ({ ...authority(l), ...extra });
const same = { revisions: { goal: 1, auth: 1 } };
const goal = { digest: digestOf('another goal'), bytes: 1 };
const amendment = { change: 'amend', goal, revisions: { goal: 2, auth: 1 } };
const topUp = { change: 'top_up', added: { requests: 1 }, ...same };
const amendRows: Row[] = [
  [null, 'another goal', opened, changed(amendment)],
  [
    null,
    'other grants',
    opened,
    changed({ change: 'amend', grants: ['read'], revisions: { goal: 1, auth: 2 } }),
  ],
  [null, 'a top-up', opened, changed(topUp)],
  [
    'the authority revision does not follow',
    'other grants under the old revision',
    opened,
    changed({ change: 'amend', grants: ['read'], ...same }),
  ],
  [
    'the goal revision does not follow',
    'another goal under the old revision',
    opened,
    changed({ ...amendment, ...same }),
  ],
  ['the run has ended', 'another goal after the end', ended, changed(amendment)],
  ['the run has ended', 'a top-up after the end', ended, changed(topUp)],
  [
    'another goal without an amendment',
    'a cancel with a goal',
    opened,
    changed({ ...amendment, change: 'cancel' }),
  ],
  ['only a top-up adds', 'a top-up of nothing', opened, changed({ ...topUp, added: undefined })],
  ['only a top-up adds', 'a cancel that adds', opened, changed({ ...topUp, change: 'cancel' })],
];

const bound = digestOf('this');
const approve = { change: 'approve', commandId: 'a2', actionId: ACTION, bound, ...same };
const namesIts = 'a decision names its action and what it decides on, and nothing else does';
const decidedAs =
  (change: 'approve' | 'deny', validUntil?: number): Given =>
  (l) => {
    opened(l);
    const body = { ...authority(l), ...approve, change, commandId: 'a1' } as const;
    const until = validUntil === undefined ? {} : { validUntil };
    l.write(RUN, { source: 'human', body: { ...body, ...until } });
  };
const decisionRows: Row[] = [
  [null, 'an approval', opened, changed(approve)],
  [null, 'a denial', opened, changed({ ...approve, change: 'deny' })],
  [
    null,
    'a denial of something else',
    decidedAs('approve'),
    changed({ ...approve, bound: digestOf('that') }),
  ],
  [null, 'another after one that expires', decidedAs('approve', 1), changed(approve)],
  ['the run has ended', 'an approval after the end', ended, changed(approve)],
  [namesIts, 'an approval of nothing', opened, changed({ ...approve, bound: undefined })],
  [namesIts, 'an approval of no action', opened, changed({ ...approve, actionId: undefined })],
  [namesIts, 'a cancel of an action', opened, changed({ ...approve, change: 'cancel' })],
  ['decided before', 'K-139 twice', decidedAs('approve'), changed(approve)],
  [
    'decided before',
    'K-139 the other way',
    decidedAs('approve'),
    changed({ ...approve, change: 'deny' }),
  ],
  [
    'decided before',
    'K-139 an approval of what was denied',
    decidedAs('deny', 1),
    changed(approve),
  ],
];

export const authorityRows: Row[] = [
  [null, 'a revoke before the run', nothing, authority],
  [
    null,
    'a cancel keeps the revision',
    opened,
    changed({ change: 'cancel', revisions: { goal: 1, auth: 1 } }),
  ],
  [
    null,
    'a ticket',
    opened,
    changed({ change: 'permit', ticket: 't', revisions: { goal: 1, auth: 1 } }),
  ],
  ['the command was applied before', 'R-109 twice', revoked, authority],
  [
    'the authority revision does not follow',
    'R-109 a revoke that bumps nothing',
    opened,
    changed({ revisions: { goal: 1, auth: 1 } }),
  ],
  [
    'the authority revision does not follow',
    'a cancel that bumps',
    opened,
    changed({ change: 'cancel' }),
  ],
  [
    'the goal revision does not follow',
    'another goal',
    opened,
    changed({ revisions: { goal: 2, auth: 2 } }),
  ],
  ['a ticket is a permit', 'a revoke with a ticket', opened, changed({ ticket: 't' })],
  ...amendRows,
  ...decisionRows,
];

export const rejectedRows: Row[] = [
  [null, 'a rejected command', nothing, bodies.command_rejected],
  [
    'too many to keep',
    'beyond the cap',
    (l) => {
      for (let i = 0; i < limits.rejectedCommandsMax; i++)
        l.write(RUN, { source: 'human', body: bodies.command_rejected() });
    },
    bodies.command_rejected,
  ],
];

const finish = bodies.run_ended;
const finished =
  (extra: object): Make =>
  (l) => ({ ...finish(l), ...extra });
export const endedRows: Row[] = [
  [null, 'completed', executed, finish],
  [null, 'with unknowns', entered, finish],
  [null, 'a lost read is no unknown', (l) => openAndEnter(l, safe), finished({ openUnknowns: [] })],
  ['the run is not open', 'no run', nothing, () => finish(openedLedger())],
  ['the run has ended', 'twice', ended, () => finish(openedLedger())],
  ['the epoch is not the claim’s', 'another epoch', opened, finished({ epoch: 2 })],
  ['open unknowns are others', 'R-055 one left out', entered, finished({ openUnknowns: [] })],
  ['open unknowns are others', 'one too many', opened, finished({ openUnknowns: [ACTION] })],
  ['open unknowns are others', 'another one', entered, finished({ openUnknowns: ['x'] })],
  [
    'open unknowns are others',
    'accepted is open',
    (l) => {
      entered(l);
      settle(l, { outcome: 'accepted' });
    },
    finished({ openUnknowns: [] }),
  ],
  ['completed with unknowns', 'completed', entered, finished({ end: { kind: 'completed' } })],
];

const erase = bodies.payload_erased;
const payload: Make = (l) => ({
  ...erase(),
  digest: bodies.attempt_entered(openedLedger()).payload.digest,
  actor: l.identity.id,
});
export const erasedRows: Row[] = [
  [null, 'after the end', ended, erase],
  [
    null,
    'of an action that is settled',
    (l) => {
      executed(l);
      end(l);
    },
    payload,
  ],
  ['the run is open', 'before the end', opened, erase],
  [
    'still asked about',
    'of an unknown',
    (l) => {
      entered(l);
      end(l);
    },
    payload,
  ],
];
