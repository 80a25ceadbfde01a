// What a receiver really promises. A missing part is `none`; the level is derived, never declared.

import * as z from 'zod';
import { limits } from './limits.ts';

const none = z.literal('none');

/** Who de-duplicates, and where: a key means nothing outside of this (rule A1). */
const contractScopeSchema = z.strictObject({
  receiver: z.string().min(1),
  account: z.string().min(1),
  workspace: z.string().min(1),
  region: z.string().min(1),
  /** Where keys of one interface (an API version, a path) are not known to another. */
  interface: z.string().min(1).optional(),
  /** Where a key counts for one resource (a collection, a mailbox) alone. */
  resource: z.string().min(1).optional(),
});

export const contractSchema = z.strictObject({
  scope: z.union([none, contractScopeSchema]).default('none'),
  /** How the receiver key travels, e.g. "header Idempotency-Key". */
  identity: z.union([none, z.strictObject({ travelsAs: z.string().min(1) })]).default('none'),
  /** How long the receiver keeps the key, in ms from the first send. */
  retentionMs: z.union([none, z.number().int().positive()]).default('none'),
  retentionMarginMs: z.number().int().nonnegative().default(limits.retentionMarginMs),
  /** After this long an old request can no longer arrive, in ms. */
  requestDelayMaxMs: z.union([none, z.number().int().positive()]).default('none'),
  inquiry: z
    .union([
      none,
      z.strictObject({
        consistency: z.enum(['strong', 'lagging']),
        /** `no_record` means nothing before this long after the send, in ms. */
        settleMs: z.number().int().nonnegative(),
      }),
    ])
    .default('none'),
  /** `by_token` refuses every send token up to the closed one; `by_key` burns the key. */
  closing: z.enum(['none', 'by_token', 'by_key']).default('none'),
  fencing: z.enum(['none', 'honoured']).default('none'),
  /** Whether the receiver itself can go on with a half-done operation. */
  continuing: z.enum(['none', 'own_protocol']).default('none'),
  /** Fields of the input that may differ between two askings of one intent, e.g. a trace id. */
  changeable: z.array(z.string().min(1)).optional(),
});

export type Contract = z.output<typeof contractSchema>;
export type ContractInput = z.input<typeof contractSchema>;

export type Level = 'L0' | 'L1' | 'L2' | 'L3';

export function levelOf(contract: Contract): Level {
  if (contract.closing !== 'none' && contract.fencing === 'honoured') return 'L3';
  if (keyGaps(contract).length === 0) return 'L2';
  if (contract.inquiry !== 'none' || contract.closing !== 'none') return 'L1';
  return 'L0';
}

/** The fields a `keyed` tool still lacks; empty when its key can be relied on. */
export function keyGaps(contract: Contract): string[] {
  const gaps: string[] = [];
  if (contract.scope === 'none') gaps.push('scope');
  if (contract.identity === 'none') gaps.push('identity');
  if (contract.retentionMs === 'none') gaps.push('retentionMs');
  else if (contract.retentionMs <= contract.retentionMarginMs + delayOf(contract))
    gaps.push('retentionMs (must be longer than retentionMarginMs + requestDelayMaxMs)');
  return gaps;
}

function delayOf(contract: Contract): number {
  return contract.requestDelayMaxMs === 'none' ? 0 : contract.requestDelayMaxMs;
}

/**
 * Receiver, account, workspace and region, and interface and resource where they are named: what
 * was sent there is asked about there alone (A17). Null when the contract names none.
 */
export function domainOf(contract: Contract): string | null {
  if (contract.scope === 'none') return null;
  const { receiver, account, workspace, region, interface: face, resource } = contract.scope;
  const named = { interface: face, resource };
  const narrower = Object.entries(named).flatMap(([part, value]) =>
    value === undefined ? [] : [`${part}=${encodeURIComponent(value)}`],
  );
  const parts = [receiver, account, workspace, region].map(encodeURIComponent);
  return [...parts, ...narrower].join('/');
}
