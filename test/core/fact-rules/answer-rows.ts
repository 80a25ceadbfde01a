// Rules of the kinds that say what became of an action.

import { digestOf } from '../../../core/digest.ts';
import { ACTION, open } from '../../support/asks.ts';
import { bodies } from '../../support/fact-bodies.ts';
import { change, doubt, resolve } from '../../support/story.ts';
import { entered, enteredLedger, executed, type Make, nothing, opened, type Row } from './given.ts';

const result = { digest: digestOf('r'), bytes: 3 };
const observe = bodies.observation;
const observed =
  (extra: Parameters<typeof observe>[1]): Make =>
  (l) =>
    observe(l, extra);
export const observationRows: Row[] = [
  [null, 'a note', entered, observe],
  [
    null,
    'an orphan of an action nobody knows',
    nothing,
    observed({ about: 'orphan_result', attemptId: 'x' }),
  ],
  [
    null,
    'a proof',
    entered,
    observed({ verdict: 'not_executed', proof: 'closed_token', attemptId: `${ACTION}~1` }),
  ],
  [null, 'a second effect', executed, observed({ about: 'second_effect' })],
  ['the action is not known', 'about nothing', opened, observe],
  [
    'is no orphan',
    'a known attempt',
    entered,
    observed({ about: 'orphan_result', attemptId: `${ACTION}~1` }),
  ],
  [
    'a proof of something else',
    'R-038 a proof beside no_record',
    entered,
    observed({ verdict: 'no_record', proof: 'settled' }),
  ],
  [
    'no first effect is final',
    'a second without a first',
    entered,
    observed({ about: 'second_effect' }),
  ],
  [
    'a result without an effect',
    'a result beside no_record',
    entered,
    observed({ verdict: 'no_record', result }),
  ],
  [
    'partial without parts',
    'R-013 no parts',
    entered,
    observed({ verdict: 'partial', attemptId: `${ACTION}~1` }),
  ],
];

const inDoubt = bodies.action_in_doubt;
export const doubtRows: Row[] = [
  [null, 'an open attempt', entered, inDoubt],
  ['names an attempt that is not open', 'settled', executed, inDoubt],
  ['names an attempt that is not open', 'never entered', opened, inDoubt],
];

const answer = bodies.resolution;
const answered =
  (extra: object, verb?: Parameters<typeof answer>[1]): Make =>
  (l) => ({ ...answer(l, verb), ...extra });
export const resolutionRows: Row[] = [
  [null, 'executed', entered, answer],
  [null, 'not executed', entered, (l) => answer(l, 'confirm_not_executed')],
  [null, 'a retry with its permit', entered, (l) => answer(l, 'authorize_retry')],
  [null, 'abandoned', entered, (l) => answer(l, 'abandon')],
  [
    'no attempt of the action entered',
    'only refused',
    (l) => {
      open(l);
      doubt(l);
    },
    () => answer(enteredLedger()),
  ],
  ['no attempt of the action entered', 'not known', opened, () => answer(enteredLedger())],
  [
    'the command was applied before',
    'R-134 twice',
    (l) => {
      entered(l);
      change(l, 'cancel', { id: 'answer-2' });
    },
    answered({ commandId: 'answer-2' }),
  ],
  ['answers a record that is not there', 'D7 the future', entered, answered({ recordVersion: 9 })],
  ['permits come by retry only', 'a permit from elsewhere', entered, answered({ permit: 'p' })],
  [
    'permits come by retry only',
    'a retry without',
    entered,
    answered({ permit: null }, 'authorize_retry'),
  ],
  ['a result without an effect', 'a result of nothing', entered, answered({ result }, 'abandon')],
  [
    'what is abandoned is never resent',
    'a retry',
    (l) => {
      entered(l);
      resolve(l, { verb: 'abandon' });
    },
    () => ({ ...answer(enteredLedger(), 'authorize_retry'), commandId: 'another' }),
  ],
  [
    'evidence missing, or without a claim',
    'R-039 no evidence',
    entered,
    answered({ evidence: null }),
  ],
  [
    'evidence missing, or without a claim',
    'evidence of nothing',
    entered,
    (l) => ({ ...answer(l, 'abandon'), evidence: answer(l).evidence }),
  ],
  [
    'not executed needs its coverage',
    'R-134 no coverage',
    entered,
    answered({ coverage: null }, 'confirm_not_executed'),
  ],
];
