// What Temporal's client throws, as errors of ours. One table: gRPC status to code and advice.

import { isGrpcServiceError, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { ClientError, type ClientErrorCode, errorText } from './errors.ts';

export interface Server {
  readonly address: string;
  readonly namespace: string;
}

interface Row {
  readonly code: ClientErrorCode;
  readonly text: (server: Server, detail: string) => string;
}

const unreachable: Row = {
  code: 'temporal_unreachable',
  text: ({ address }, detail) =>
    `Temporal at ${address} cannot be reached (${detail}); ` +
    'start it or correct its address (HOLDFAST_ADDRESS, --address)',
};

const denied: Row = {
  code: 'temporal_denied',
  text: ({ address, namespace }, detail) =>
    `Temporal at ${address} denies access to namespace ${namespace} (${detail}); ` +
    'check HOLDFAST_API_KEY and the TLS settings',
};

const namespaceMissing: Row = {
  code: 'namespace_missing',
  text: ({ address, namespace }) =>
    `Temporal at ${address} has no namespace "${namespace}"; ` +
    'create it or correct its name (HOLDFAST_NAMESPACE, --namespace)',
};

/** By number of the gRPC status; what is not listed is `temporal_refused`. */
const byStatus: Readonly<Record<number, Row>> = {
  // Our own deadline: the server may be there and busy, or not there at all.
  4: unreachable,
  7: denied,
  14: unreachable,
  16: denied,
};

/** An error of ours stays; so does the SDK's "no such workflow", which callers decide about. */
export function translated(error: unknown, server: Server): unknown {
  if (error instanceof ClientError || error instanceof WorkflowNotFoundError) return error;
  if (error instanceof NamespaceNotFoundError) return made(namespaceMissing, server, error);
  const status = grpcOf(error);
  if (status === null) return error;
  if (status.code === 5 && /namespace/i.test(status.details))
    return made(namespaceMissing, server, error, status.details);
  const row = byStatus[status.code] ?? {
    code: 'temporal_refused' as const,
    text: ({ address }: Server, detail: string) =>
      `Temporal at ${address} refused the call (${detail}); correct what it names`,
  };
  return made(row, server, error, status.details);
}

function made(row: Row, server: Server, cause: unknown, detail = errorText(cause)): ClientError {
  return new ClientError(row.code, row.text(server, detail), { cause });
}

/** Status and words of a gRPC error, also where the SDK has wrapped it. */
export function grpcOf(error: unknown): { code: number; details: string } | null {
  if (isGrpcServiceError(error)) return { code: error.code, details: error.details };
  if (error instanceof ServiceError && error.cause !== undefined) return grpcOf(error.cause);
  return null;
}

/** Runs `call`; its errors come out translated. */
export async function onServer<T>(server: Server, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw translated(error, server);
  }
}
