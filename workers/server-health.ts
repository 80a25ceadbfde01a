// Waits until a server that was just started answers.

import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { limits } from '../core/limits.ts';
import type { ChildServer } from './child-server.ts';

/**
 * A connection, once the server answers `ready`; the caller closes it.
 * Throws with what the server printed when it ends or does not answer within `embeddedStartMs`.
 */
export async function connectionTo(
  server: ChildServer,
  address: string,
  ready: (connection: Connection) => Promise<unknown>,
): Promise<Connection> {
  const deadline = Date.now() + limits.embeddedStartMs;
  let last = 'not asked yet';
  while (Date.now() < deadline) {
    if (server.hasEnded()) throw new ServerEndedError(address, server.said());
    try {
      return await readyConnection(address, ready);
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await sleep(limits.embeddedPollMs);
  }
  throw new Error(
    `the server at ${address} does not answer within ${limits.embeddedStartMs} ms (${last}); ` +
      `it said: ${server.said() || 'nothing'}`,
  );
}

export class ServerEndedError extends Error {
  override readonly name = 'ServerEndedError';
  readonly said: string;
  constructor(address: string, said: string) {
    super(`the server for ${address} ended while starting; it said: ${said || 'nothing'}`);
    this.said = said;
  }
}

async function readyConnection(
  address: string,
  ready: (connection: Connection) => Promise<unknown>,
): Promise<Connection> {
  const connection = await Connection.connect({ address, connectTimeout: 1_000 });
  try {
    await ready(connection);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}
