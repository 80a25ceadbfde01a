// A Temporal server that can be killed and comes back as it was: same port, same database.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type EmbeddedServer, startEmbeddedServer } from '../../workers/embedded-server.ts';
import { untilGone } from './process-life.ts';

export interface MortalServer {
  readonly address: string;
  readonly namespace: string;
  /** SIGKILL; `meanwhile` is called right after. Back `afterMs` later. */
  dieFor(afterMs: number, meanwhile: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

export async function mortalServer(): Promise<MortalServer> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-mortal-'));
  const dbPath = join(directory, 'temporal.db');
  let running: EmbeddedServer = await startEmbeddedServer({ dbPath });
  const { address, namespace } = running;
  const port = Number(address.slice(address.lastIndexOf(':') + 1));
  return {
    address,
    namespace,
    async dieFor(afterMs, meanwhile) {
      process.kill(running.pid, 'SIGKILL');
      await untilGone(running.pid);
      await Promise.all([meanwhile(), pause(afterMs)]);
      running = await startEmbeddedServer({ dbPath, port });
    },
    async stop() {
      await running.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
