// What a run may do, by purpose. Each is granted and withdrawn on its own.

import * as z from 'zod';
import type { ReplayPolicy } from './tool-policy.ts';

export const grantSchema = z.enum(['effect', 'query', 'read', 'send', 'accept', 'compensate']);
export type Grant = z.infer<typeof grantSchema>;

/**
 * What an attempt needs: a model call sends what the run has found so far; a `safe` tool reads.
 * `query` is for inquiries, `accept` for building on what came late, `compensate` for undoing.
 */
export const grantFor = {
  safe: 'read',
  keyed: 'effect',
  never: 'effect',
  rebuy: 'send',
} as const satisfies Record<ReplayPolicy, Grant>;
