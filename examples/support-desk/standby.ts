// Worker processes one after the other. Loading the code takes longest, so the next process does it
// beforehand and stands by until it is told to go.

import type { Child } from './child.ts';

const READY_MS = 60_000;

export interface WorkerStarter {
  /** Ready when every worker of the process polls. */
  startWorker(): Promise<Child>;
  /** Starts no more; resolves when none is about to be spawned. */
  settled(): Promise<void>;
}

/** `workers`: how many there will be; `spawn` starts a process that waits for a line on stdin. */
export function workerStarter(workers: number, spawn: () => Promise<Child>): WorkerStarter {
  let left = workers;
  const next = (): Promise<Child> | null => {
    if (left === 0) return null;
    left -= 1;
    const spawned = spawn();
    // Whoever starts it hears of it; nobody else has to.
    spawned.catch(() => undefined);
    return spawned;
  };
  let standby = next();
  return {
    async startWorker() {
      const worker = await standby;
      if (worker === null) throw new Error(`there were to be ${workers} workers, no more`);
      worker.tell('go');
      await worker.line('READY', READY_MS);
      standby = next();
      return worker;
    },
    async settled() {
      left = 0;
      await standby?.catch(() => undefined);
    },
  };
}
