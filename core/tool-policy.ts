// What a workflow knows of a tool: plain data from the catalog that `openRun` returns.

import * as z from 'zod';
import { contractSchema } from './contract.ts';
import { digestSchema } from './digest.ts';

/**
 * `safe`: no effect, may be repeated. `keyed`: the receiver de-duplicates by our key.
 * `never`: an unknown attempt is never repeated. `rebuy`: a model call; a lost reply is bought
 * again.
 */
export const replayPolicySchema = z.enum(['safe', 'keyed', 'never', 'rebuy']);
export type ReplayPolicy = z.infer<typeof replayPolicySchema>;

/** `hold`: the run waits for the settlement. `continue`: declared independent steps may go on. */
export const onUnknownSchema = z.enum(['hold', 'continue']);
export type OnUnknown = z.infer<typeof onUnknownSchema>;

/** The model stands in the catalog under this name; no tool may take it. */
export const MODEL_TOOL = 'model';

export const bindingSchema = z.strictObject({
  tool: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'a tool name is lower_snake_case, at most 64'),
  version: z.string().min(1).max(64),
  /** Over name, version, input schema, contract and implementation. */
  digest: digestSchema,
});
export type Binding = z.infer<typeof bindingSchema>;

const ms = z.number().int().positive();

export const toolPolicySchema = z.strictObject({
  binding: bindingSchema,
  description: z.string(),
  replay: replayPolicySchema,
  contract: contractSchema,
  level: z.enum(['L0', 'L1', 'L2', 'L3']),
  /** Whether a person approves each action, nobody does, or its rule picks them by their input. */
  approval: z.enum(['always', 'never', 'by_rule']).optional(),
  /** Whether the tool can ask its receiver at all. */
  inquirable: z.boolean(),
  /** Whether it goes on with a half-done operation by the receiver's own protocol. */
  continues: z.literal(true).optional(),
  /** Tools that undo what it did: offered, never called by themselves. */
  compensation: z.array(z.string()).optional(),
  /** Only for this tool's attempts, or null for the installation's actions queue. */
  taskQueue: z.string().nullable(),
  startToCloseMs: ms,
  heartbeatTimeoutMs: ms,
  scheduleToStartMs: ms,
  attemptsMax: ms,
  attemptsDeadlineMs: ms,
});
export type ToolPolicy = z.infer<typeof toolPolicySchema>;
