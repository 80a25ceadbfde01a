// Is this a server that the barrier can trust? Asked once, before any worker polls.

import type { Connection } from '@temporalio/client';
import { missingSearchAttributes, registerSearchAttributes } from './search-attributes.ts';

/** The barrier was measured on it, and older ones lack fields that it reads. */
const SERVER_VERSION_MIN = '1.32.0';

export interface ServerWanted {
  readonly namespace: string;
  readonly address: string;
  /** Create missing search attributes; else their absence is refused. */
  readonly register: boolean;
}

/** Throws naming what is wrong and what to do. */
export async function checkServer(connection: Connection, wanted: ServerWanted): Promise<void> {
  const { namespace, address } = wanted;
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  if (isOlder(serverVersion, SERVER_VERSION_MIN))
    throw new Error(
      `Temporal at ${address} is ${serverVersion || 'of unknown version'}; ` +
        `at least ${SERVER_VERSION_MIN} is needed: upgrade it`,
    );
  const clusters = await clustersOf(connection, wanted);
  // Two clusters may each believe that they run the workflow; no look at one of them is proof.
  if (clusters.length > 1)
    throw new Error(
      `namespace ${namespace} is replicated over ${clusters.join(', ')}; ` +
        'use one that lives in a single cluster',
    );
  if (wanted.register) {
    await registerSearchAttributes(connection, namespace);
    return;
  }
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length > 0)
    throw new Error(
      `namespace ${namespace} lacks the search attributes ${missing.join(', ')}; create them, ` +
        'or set HOLDFAST_REGISTER_SEARCH_ATTRIBUTES=on',
    );
}

async function clustersOf(
  connection: Connection,
  { namespace, address }: ServerWanted,
): Promise<string[]> {
  try {
    const reply = await connection.workflowService.describeNamespace({ namespace });
    return (reply.replicationConfig?.clusters ?? []).map(({ clusterName }) => clusterName ?? '');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `namespace ${namespace} cannot be used at ${address} (${why}); ` +
        `create it with "temporal operator namespace create --namespace ${namespace}" ` +
        'or correct HOLDFAST_NAMESPACE',
      { cause: error },
    );
  }
}

/** By the first three numbers; a version without them is older than any. */
function isOlder(version: string, than: string): boolean {
  const [a, b] = [numbersOf(version), numbersOf(than)];
  if (a === null || b === null) return true;
  for (const [index, number] of a.entries()) {
    const other = b[index] ?? 0;
    if (number !== other) return number < other;
  }
  return false;
}

function numbersOf(version: string): readonly number[] | null {
  const found = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version);
  return found === null ? null : found.slice(1).map(Number);
}
