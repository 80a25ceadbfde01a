// What an error of the driver proves. Pure. SQLSTATE: five characters of the server's own.

/** lock_not_available, query_canceled (statement_timeout), serialization_failure, deadlock. */
const BUSY_STATES: readonly string[] = ['55P03', '57014', '40001', '40P01'];

/** transaction_resolution_unknown, statement_completion_unknown. */
const UNKNOWN_STATES: readonly string[] = ['08007', '40003'];

interface ServerError {
  readonly code: string;
  readonly severity: string;
}

function serverError(error: unknown): ServerError | null {
  if (!(error instanceof Error)) return null;
  const { code, severity } = error as Partial<ServerError>;
  return code !== undefined && severity !== undefined ? { code, severity } : null;
}

export function isBusy(error: unknown): boolean {
  return BUSY_STATES.includes(serverError(error)?.code ?? '');
}

/** The server refused a statement and goes on: the connection may be used again. */
export function isPlainError(error: unknown): boolean {
  return serverError(error)?.severity === 'ERROR';
}

/**
 * A COMMIT that the server refused in words was rolled back: what comes up after the commit record
 * is no ERROR. Everything else (FATAL, a broken connection, no answer) proves nothing.
 */
export function commitFailure(error: unknown): 'rolled_back' | 'commit_unknown' {
  const known = serverError(error);
  const refused = known?.severity === 'ERROR' && !UNKNOWN_STATES.includes(known.code);
  return refused ? 'rolled_back' : 'commit_unknown';
}
