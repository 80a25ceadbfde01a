import { expect, test } from 'vitest';
import { questionOf } from '../../core/question.ts';
import { questionIn, questionProblem } from '../../core/question-shape.ts';
import { RUN } from '../support/asks.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { actionOf, doubt, openAndEnter } from '../support/story.ts';

const promised = { level: 'L2', closing: 'none', fencing: 'none' } as const;
const question = () => {
  const ledger = memoryLedger();
  openAndEnter(ledger);
  doubt(ledger);
  return questionOf(ledger.run(RUN), actionOf(ledger), promised);
};

test('R-012 the question as it is built is the question as it arrives', () => {
  const asked = question();
  expect(questionProblem(asked)).toBeNull();
  expect(questionIn(asked)).toEqual(asked);
});

/** Those of earlier versions do not have it. */
const isNeeded = (field: string) => field !== 'follows';

test.each(Object.keys(question() ?? {}).filter(isNeeded))(
  'R-012 without its %s it is none, and that is named',
  (field) => {
    const asked = { ...question(), [field]: undefined };
    expect(questionProblem(asked)).toContain(field);
    expect(() => questionIn(asked)).toThrow();
  },
);

test('R-014 an answer in it that no command allows makes it none', () => {
  const asked = question();
  expect(questionProblem({ ...asked, if_yes: { status: 'finished' } })).toContain('if_yes');
  expect(questionProblem('what?')).not.toBeNull();
});
