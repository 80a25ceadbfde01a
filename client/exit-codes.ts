// What the command line answers to a shell. One table; docs/cli.md prints it.

import { ConfigError } from '../core/config.ts';
import type { RunResult } from '../core/outcome.ts';
import { LedgerError } from '../ledger/port.ts';
import { ClientError, type ClientErrorCode } from './errors.ts';

export const exitCodes = {
  ok: { code: 0, meaning: 'done; with `--wait`: the run completed' },
  internal: { code: 1, meaning: 'a defect of Holdfast; please report it' },
  badInput: { code: 2, meaning: 'usage, configuration, plan file, ids: nothing was sent' },
  refused: { code: 3, meaning: 'understood and refused, or recorded as disputed' },
  unreachable: {
    code: 4,
    meaning: 'Temporal did not answer; what was sent may have arrived: do the same again',
  },
  notCompleted: { code: 5, meaning: 'the run ended stopped, or with an unknown' },
  ledger: { code: 6, meaning: 'the ledger cannot be read or written' },
  notFound: { code: 7, meaning: 'no such run, action or question' },
} as const;

export type Exit = keyof typeof exitCodes;

const byError: Readonly<Record<ClientErrorCode, Exit>> = {
  bad_input: 'badInput',
  bad_plan: 'badInput',
  bad_run_id: 'badInput',
  input_too_large: 'badInput',
  other_goal: 'refused',
  other_start: 'refused',
  foreign_workflow: 'refused',
  needs_resume: 'refused',
  still_open: 'refused',
  already_ended: 'refused',
  refused_by_ledger: 'refused',
  run_refused: 'refused',
  run_not_found: 'notFound',
  question_not_found: 'notFound',
  goal_fixed: 'refused',
  history_gone: 'refused',
  ledger_needed: 'refused',
  result_not_readable: 'refused',
  temporal_unreachable: 'unreachable',
  temporal_denied: 'unreachable',
  temporal_refused: 'refused',
  namespace_missing: 'unreachable',
  not_answered: 'unreachable',
};

export function exitOfError(error: unknown): Exit {
  if (error instanceof ClientError) return byError[error.code];
  if (error instanceof ConfigError) return 'badInput';
  return error instanceof LedgerError ? 'ledger' : 'internal';
}

export function exitOfRun({ end }: RunResult): Exit {
  return end.kind === 'completed' ? 'ok' : 'notCompleted';
}
