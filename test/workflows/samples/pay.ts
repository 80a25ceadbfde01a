// Somebody else's workflow: the body in ten lines, and the question's workflow exported beside it.

import { ApplicationFailure, condition, defineSignal, setHandler } from '@temporalio/workflow';
import { holdfast } from '../../../workflows/index.ts';
import type { sampleTools } from './sample-tools.ts';

export { unknownAction } from '../../../workflows/index.ts';

export const pay = holdfast<typeof sampleTools>().run(
  async ({ act, runId }, order: { amount: number }) => {
    const paid = await act('charge_card', { amount: order.amount });
    if (paid.kind !== 'executed') return paid.kind;
    const note = await act('read_note', { about: runId }, { name: 'note' });
    return note.kind === 'executed' ? `${paid.result.ok}, ${note.result.text}` : note.kind;
  },
);

export const goOn = holdfast<typeof sampleTools>().run(async ({ act }) => {
  const letter = await act('post_letter', { to: 'x' }, { onUnknown: 'continue' });
  const second = await act('read_note', { about: 'y' }, { onUnknown: 'continue' });
  return [letter.kind, second.kind];
});

export const stops = holdfast<typeof sampleTools>().run(async ({ act }) => {
  const kinds: string[] = [];
  for (let i = 0; i < 3; i++) kinds.push((await act('charge_card', { amount: i })).kind);
  return kinds;
});

/** Whichever is first; the other goes on. */
export const race = holdfast<typeof sampleTools>().run(({ act }) => {
  let isOver = false;
  setHandler(defineSignal('over'), () => {
    isOver = true;
  });
  return Promise.race([
    act('charge_card', { amount: 1 }).then(({ kind }) => kind as string),
    condition(() => isOver).then(() => 'the other'),
  ]);
});

export const careless = holdfast<typeof sampleTools>().run(
  async ({ act }, input: { how: string }) => {
    if (input.how === 'large')
      await act('read_note', { about: 'x'.repeat(70_000) }, { name: 'large' });
    if (input.how === 'lossy') await act('charge_card', { amount: Number.NaN }, { name: 'lossy' });
    if (input.how === 'twice') {
      await act('charge_card', { amount: 1 }, { name: 'same' });
      await act('charge_card', { amount: 1 }, { name: 'same' });
    }
    if (input.how === 'slash') await act('charge_card', { amount: 1 }, { name: 'a/b' });
    if (input.how === 'value') return new Map() as unknown as string;
    throw ApplicationFailure.nonRetryable('the body itself gives up');
  },
);
