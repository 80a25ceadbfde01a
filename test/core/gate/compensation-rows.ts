// The gate's rows on an action that undoes another one. Let through wrongly, it would undo what
// never was, what nobody knows of, or what somebody has changed since.

import { ACTION, binding, enter, open, settle } from '../../support/asks.ts';
import { amend } from '../../support/authority-story.ts';
import { commandOf, resolve } from '../../support/story.ts';
import { doubt, entered, executed, next, opened, type Row } from './given.ts';

type Given = Row['given'];
type Verb = Parameters<typeof commandOf>[1]['verb'];

const undoing = { ...next, compensates: ACTION };
const doubted: Given = (l) => {
  entered()(l);
  doubt(l);
};
const settled =
  (over: Parameters<typeof settle>[1]): Given =>
  (l) => {
    entered()(l);
    settle(l, over);
  };
const answered =
  (verb: Verb): Given =>
  (l) => {
    doubted(l);
    resolve(l, { verb });
  };
const disputed: Given = (l) => {
  executed(l);
  settle(l, { externalId: 'ext-2' });
};
const leftAtV2 = settled({ objectVersion: 'v2' });
const atVersion = (object: string) => ({ ...undoing, versions: { object } });
const refused = (verdict: string, when: string, given: Given): Row => ({
  ...{ verdict, when, given },
  ...{ ask: () => undoing, leaves: 'closed' },
});

export const compensationRows: Row[] = [
  refused('compensates_open', 'D12 R-119 nobody has settled what it undoes', entered()),
  refused('compensates_open', 'D12 R-119 what it undoes is in doubt', doubted),
  refused(
    'compensates_open',
    'D12 R-119 the receiver has accepted what it undoes and is at it',
    settled({ outcome: 'accepted' }),
  ),
  {
    verdict: 'compensates_open',
    when: 'D12 two outcomes of what it undoes contradict each other, though it is independent',
    given: disputed,
    ask: () => ({ ...undoing, onUnknown: 'continue' }),
    leaves: 'closed',
  },
  refused('disputed', 'what it undoes is disputed and it is not independent', disputed),
  refused('nothing_to_compensate', 'R-119 its original is no action of the run', opened),
  refused(
    'nothing_to_compensate',
    'R-119 the receiver refused what it undoes',
    settled({ outcome: 'refused' }),
  ),
  refused(
    'nothing_to_compensate',
    'R-119 what it undoes was not sent, and is not open',
    settled({ outcome: 'not_sent' }),
  ),
  refused(
    'nothing_to_compensate',
    'R-119 a person has said that what it undoes had no effect',
    answered('confirm_not_executed'),
  ),
  refused(
    'nothing_to_compensate',
    'D12 what it undoes was abandoned as unknown',
    answered('abandon'),
  ),
  {
    verdict: 'nothing_to_compensate',
    when: 'R-119 its original is an action of a tool that it does not undo',
    given: settled({}),
    ask: () => ({ ...undoing, undoes: ['some_other_tool'] }),
    leaves: 'closed',
  },
  {
    verdict: 'entered',
    when: 'R-119 its original is an action of a tool that it undoes',
    given: settled({}),
    ask: () => ({ ...undoing, undoes: ['some_other_tool', binding.tool] }),
    leaves: 'entered',
  },
  {
    verdict: 'not_granted',
    when: 'R-119 it undoes something, and compensate is not granted',
    given: (l) => {
      open(l, { grants: ['read', 'query', 'effect', 'send', 'accept'] });
      enter(l);
      settle(l);
    },
    ask: () => undoing,
    leaves: 'closed',
  },
  {
    verdict: 'object_changed',
    when: 'R-119 its object is not as the effect had left it',
    given: leftAtV2,
    ask: () => atVersion('v3'),
    leaves: 'closed',
  },
  {
    verdict: 'entered',
    when: 'R-119 its object is as the effect had left it',
    given: leftAtV2,
    ask: () => atVersion('v2'),
    leaves: 'entered',
  },
  {
    verdict: 'entered',
    when: 'R-119 nobody told the version in which the effect had left its object',
    given: executed,
    ask: () => atVersion('v3'),
    leaves: 'entered',
  },
  {
    verdict: 'entered',
    when: 'R-119 a person has said that what it undoes had its effect',
    given: answered('confirm_executed'),
    ask: () => undoing,
    leaves: 'entered',
  },
  {
    verdict: 'entered',
    when: 'R-119 compensate alone is granted',
    given: (l) => {
      executed(l);
      amend(l, { grants: ['compensate'] });
    },
    ask: () => ({ ...undoing, revisions: { goal: 1, auth: 2 } }),
    leaves: 'entered',
  },
];
