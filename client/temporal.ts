// The connection to Temporal and the few calls the client makes.
//
// Owns: connecting, deadlines, and what Temporal's answers mean for a run id.
// Does not own: whether an answer allows something; the ledger and the run decide that.

import { readFile } from 'node:fs/promises';
import {
  Client,
  Connection,
  type ConnectionOptions,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from '@temporalio/client';
import * as codec from '@temporalio/common/lib/internal-non-workflow/codec-helpers.js';
import type { ClientConfig, TlsConfig } from '../core/config.ts';
import { ClientError, errorText } from './errors.ts';
import { onServer, type Server } from './temporal-errors.ts';

/** Long enough for a busy server, short enough for a person at a terminal. */
const CONNECT_TIMEOUT_MS = 5_000;
/** A call that no worker has to answer takes milliseconds. */
const CALL_DEADLINE_MS = 20_000;

export interface Temporal {
  readonly client: Client;
  readonly connection: Connection;
  readonly server: Server;
  /** False: the connection came from outside and stays open. */
  readonly owned: boolean;
}

export type Execution =
  | { readonly kind: 'none' }
  | { readonly kind: 'open' | 'closed'; readonly description: WorkflowExecutionDescription };

/** Connects, or takes `given`. Throws ClientError naming address, namespace or TLS file. */
export async function connectTemporal(config: ClientConfig, given?: Connection): Promise<Temporal> {
  const server = { address: config.address, namespace: config.namespace };
  const connection = given ?? Connection.lazy(await connectionOptions(config));
  try {
    await connection.ensureConnected();
  } catch (error) {
    if (given === undefined) await connection.close();
    throw new ClientError(
      'temporal_unreachable',
      `Temporal at ${server.address} cannot be reached (${errorText(error)}); ` +
        'start it or correct its address (HOLDFAST_ADDRESS, --address)',
      { cause: error },
    );
  }
  const client = new Client({
    connection,
    namespace: config.namespace,
    workflow: { queryRejectCondition: 'NOT_OPEN' },
  });
  return { client, connection, server, owned: given === undefined };
}

async function connectionOptions(config: ClientConfig): Promise<ConnectionOptions> {
  return {
    address: config.address,
    connectTimeout: CONNECT_TIMEOUT_MS,
    ...(config.apiKey === null ? {} : { apiKey: config.apiKey }),
    ...(config.tls === null ? {} : { tls: await tlsOptions(config.tls) }),
  };
}

async function tlsOptions(tls: TlsConfig): Promise<Exclude<ConnectionOptions['tls'], undefined>> {
  const [ca, crt, key] = await Promise.all(
    [tls.caPath, tls.certPath, tls.keyPath].map((path) => pem(path)),
  );
  return {
    ...(ca ? { serverRootCACertificate: ca } : {}),
    ...(crt && key ? { clientCertPair: { crt, key } } : {}),
    ...(tls.serverName === null ? {} : { serverNameOverride: tls.serverName }),
  };
}

async function pem(path: string | null): Promise<Buffer | null> {
  if (path === null) return null;
  try {
    return await readFile(path);
  } catch (error) {
    const message = `the PEM file ${path} cannot be read (${errorText(error)}); correct its path`;
    throw new ClientError('bad_input', message, { cause: error });
  }
}

/** `call` under the usual deadline, its errors translated. */
export function calling<T>(
  { connection, server }: Temporal,
  call: () => Promise<T>,
  deadlineMs = CALL_DEADLINE_MS,
): Promise<T> {
  return onServer(server, () => connection.withDeadline(Date.now() + deadlineMs, call));
}

/** The newest execution with this workflow id. */
export async function executionOf(temporal: Temporal, workflowId: string): Promise<Execution> {
  try {
    const description = await calling(temporal, () =>
      temporal.client.workflow.getHandle(workflowId).describe(),
    );
    const open = ['RUNNING', 'PAUSED'].includes(description.status.name);
    return { kind: open ? 'open' : 'closed', description };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { kind: 'none' };
    throw error;
  }
}

/**
 * Sends a signal to the newest execution. False: no open execution has this id, so nothing was
 * sent. A lost reply throws; signals carry command ids, so sending again is harmless.
 */
export async function signaled(
  temporal: Temporal,
  workflowId: string,
  signal: { readonly name: string; readonly argument: unknown },
): Promise<boolean> {
  try {
    const handle = temporal.client.workflow.getHandle(workflowId);
    await calling(temporal, () => handle.signal(signal.name, signal.argument));
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Arguments the newest execution was started with. Null: there is none, or its history is gone. */
export async function startArguments(
  temporal: Temporal,
  workflowId: string,
): Promise<readonly unknown[] | null> {
  const { client } = temporal;
  try {
    const response = await calling(temporal, () =>
      client.workflowService.getWorkflowExecutionHistory({
        namespace: temporal.server.namespace,
        execution: { workflowId },
        maximumPageSize: 1,
      }),
    );
    const input = response.history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input;
    if (input === undefined) return null;
    const converter = client.options.loadedDataConverter;
    return await codec.decodeArrayFromPayloads(converter, input?.payloads ?? []);
  } catch (error) {
    if (error instanceof ClientError && error.code === 'temporal_refused') {
      if (/not found/i.test(error.message)) return null;
    }
    throw error;
  }
}
