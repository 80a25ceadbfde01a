// The two connections of a worker process: the native one that workers poll by, and a plain one for
// the barrier and for late signals, which must outlive an activity's cancellation.

import { readFile } from 'node:fs/promises';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { ClientConfig, TlsConfig } from '../core/config.ts';

export interface Connections {
  readonly native: NativeConnection;
  readonly plain: Connection;
  readonly client: Client;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Throws naming address and what to do, or the PEM file that cannot be read. */
export async function connect(config: ClientConfig): Promise<Connections> {
  const { address, namespace, apiKey } = config;
  const options = {
    address,
    ...(config.tls === null ? {} : { tls: await tlsOf(config.tls) }),
    ...(apiKey === null ? {} : { apiKey }),
  };
  try {
    const plain = await Connection.connect({ ...options, connectTimeout: CONNECT_TIMEOUT_MS });
    try {
      const native = await NativeConnection.connect(options);
      const client = new Client({ connection: plain, namespace });
      const close = async () => {
        await native.close();
        await plain.close();
      };
      return { native, plain, client, close };
    } catch (error) {
      await plain.close();
      throw error;
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Temporal at ${address} does not answer (${why}); start it or correct HOLDFAST_ADDRESS`,
      { cause: error },
    );
  }
}

async function tlsOf({ caPath, certPath, keyPath, serverName }: TlsConfig) {
  const [ca, crt, key] = await Promise.all([caPath, certPath, keyPath].map(pem));
  return {
    ...(ca ? { serverRootCACertificate: ca } : {}),
    ...(crt && key ? { clientCertPair: { crt, key } } : {}),
    ...(serverName === null ? {} : { serverNameOverride: serverName }),
  };
}

async function pem(path: string | null): Promise<Buffer | null> {
  if (path === null) return null;
  try {
    return await readFile(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the PEM file ${path} cannot be read (${why}); correct its path`);
  }
}
