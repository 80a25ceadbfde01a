// What a client tells its caller when something is refused or out of reach. Every message names
// what, which id, and what to do.

export const clientErrorCodes = [
  'bad_input',
  'bad_plan',
  'bad_run_id',
  'input_too_large',
  'other_goal',
  'other_start',
  'foreign_workflow',
  'needs_resume',
  'still_open',
  'already_ended',
  'refused_by_ledger',
  'run_not_found',
  'run_refused',
  'question_not_found',
  'goal_fixed',
  'history_gone',
  'ledger_needed',
  'result_not_readable',
  'temporal_unreachable',
  'temporal_denied',
  'temporal_refused',
  'namespace_missing',
  'not_answered',
] as const;
export type ClientErrorCode = (typeof clientErrorCodes)[number];

export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: ClientErrorCode;
  constructor(code: ClientErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
  }
}

/** One line for people out of whatever was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
