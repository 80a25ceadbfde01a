// How many commands are being recorded at a time. Nothing bounds how many come with one workflow
// task, but what that task schedules has to fit one message to the server.
//
// Owns: the commands under way and those that wait, in the order in which they came.
// INV-1 One waits only behind others that are under way, so that it is its turn some time.

import { condition, patched } from '@temporalio/workflow';
import { limits } from '../core/limits.ts';
import { patches } from './patches.ts';

export interface Recordings {
  count: number;
  chars: number;
  readonly waiting: symbol[];
}

export function newRecordings(): Recordings {
  return { count: 0, chars: 0, waiting: [] };
}

/** Runs `record` as soon as there is room for what it schedules. */
export async function inTurn<T>(
  recordings: Recordings,
  call: object,
  record: () => Promise<T>,
): Promise<T> {
  const chars = JSON.stringify(call).length;
  const mustWait = recordings.waiting.length > 0 || !hasRoom(recordings, chars);
  if (mustWait && patched(patches.recordInTurn)) await ownTurn(recordings, chars);
  else begin(recordings, chars);
  try {
    return await record();
  } finally {
    recordings.count--;
    recordings.chars -= chars;
  }
}

function ownTurn(recordings: Recordings, chars: number): Promise<void> {
  const { waiting } = recordings;
  const self = Symbol();
  waiting.push(self);
  return condition(() => {
    if (waiting[0] !== self || !hasRoom(recordings, chars)) return false;
    // Here, because several may be let go before any of them runs on.
    waiting.shift();
    begin(recordings, chars);
    return true;
  });
}

function begin(recordings: Recordings, chars: number): void {
  recordings.count++;
  recordings.chars += chars;
}

function hasRoom({ count, chars }: Recordings, more: number): boolean {
  if (count === 0) return true;
  return count < limits.recordingsMax && chars + more <= limits.recordingCharsMax;
}
