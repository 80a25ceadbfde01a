// The gate's verdicts, in order of precedence; first match wins. `gate.ts` decides, docs and tests
// keep this order. Released names never change.

import * as z from 'zod';

export const gateVerdicts = [
  'ledger_mismatch',
  'disputed',
  'already_final',
  'payload_conflict',
  'entered_again',
  'attempt_reused',
  'attempt_closed',
  'run_not_open',
  'claim_stale',
  'claim_facts_only',
  'run_ended',
  'retention_expired',
  'action_in_doubt',
  'predecessor_open',
  'predecessor_mismatch',
  'attempt_not_current',
  'authority_unavailable',
  'revoked',
  'goal_stale',
  'authority_stale',
  'not_granted',
  'object_changed',
  'dependencies_changed',
  'credentials_changed',
  'approval_denied',
  'approval_missing',
  'approval_mismatch',
  'twin_unknown',
  'compensates_open',
  'nothing_to_compensate',
  'binding_changed',
  'budget_exhausted',
  'entered',
] as const;

export type GateVerdict = (typeof gateVerdicts)[number];

/** Reasons for closing an attempt outside the gate's list. */
export const closingReasons = ['invalid_input', 'policy_changed', 'closed_by_inquiry'] as const;

export const refusalSchema = z.enum([...gateVerdicts, ...closingReasons]);
/** Why an attempt can never enter. */
export type Refusal = z.infer<typeof refusalSchema>;
