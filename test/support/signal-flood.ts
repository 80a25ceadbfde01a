// A flood of signals to one run, for as long as something else is done.

import { setTimeout as pause } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';

const SENDERS = 2;
const PAUSE_MAX_MS = 8;

/** When it strikes is part of what is drawn: nothing is waited for. */
export const moment = (afterMs: number): Promise<void> => pause(afterMs);

/** Hints that are nobody's: each makes a workflow task and nothing else. Counts those taken. */
export async function inFlood<T>(
  handle: WorkflowHandle,
  random: () => number,
  during: () => Promise<T>,
): Promise<{ readonly result: T; readonly signals: number }> {
  let stopped = false;
  let signals = 0;
  const hint = { actionId: `${handle.workflowId}.t9.c1`, attemptId: null, outcomeDigest: null };
  const sender = async () => {
    for (; !stopped; signals++) {
      await handle.signal('lateFact', hint);
      await pause(random() * PAUSE_MAX_MS);
    }
  };
  const senders = Promise.all(Array.from({ length: SENDERS }, sender));
  try {
    const result = await during();
    stopped = true;
    await senders;
    return { result, signals };
  } finally {
    stopped = true;
    await senders.catch(() => undefined); // what broke first is the news
  }
}
