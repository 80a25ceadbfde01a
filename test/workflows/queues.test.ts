import { expect, test } from 'vitest';
import { queuesOf } from '../../core/config.ts';
import { queuesBeside } from '../../workflows/queues.ts';

test('the queues of workflows and workers have the same names for the same prefix', () => {
  const { runs, actions, inquiries } = queuesOf('shop');
  expect(queuesBeside(runs)).toEqual({ actions, inquiries });
  expect(queuesBeside('their-own-queue', 'shop')).toEqual({ actions, inquiries });
});

test('a workflow on a queue of its own finds the default prefix', () => {
  const { actions, inquiries } = queuesOf('holdfast');
  expect(queuesBeside('their-own-queue')).toEqual({ actions, inquiries });
});
