// What can be made to go wrong between a caller and a receiver, and which request it hits. Pure.
// Nothing here is reachable unless a process is started with the wrapper around its handler.

import * as z from 'zod';
import { receiverLimits } from './limits.ts';
import type { HttpCall } from './transport.ts';
import { decodeKeyHeader, headerNames } from './wire.ts';

export type CallKind = 'execute' | 'inquire' | 'close';

/** Fault -> the kinds of call it hits unless `on` says otherwise. */
export const faultKinds = {
  /** The receiver answers; the connection breaks instead of carrying the answer. */
  commit_then_drop_reply: ['execute'],
  /** The connection breaks; the receiver never sees the request. */
  drop_before_commit: ['execute'],
  /** The connection breaks (`connection: 'hold'`: waits); the receiver sees the request later. */
  delayed_commit: ['execute'],
  /** The request waits in front of the receiver until POST /faults/release. */
  hold: ['execute'],
  /** For `delayMs` after arming, or `times` looks, an inquiry sees an old copy: no record. */
  lagging_reads: ['inquire'],
  /** The inquiry looks into another principal's records. */
  wrong_account: ['inquire'],
  /** Answered 503 in front of the receiver. */
  unavailable: ['inquire'],
  /** Answered 429 in front of the receiver. */
  rate_limited: ['inquire'],
  /** The record and the closing of the key are lost right before the call. */
  forget_key: ['execute', 'inquire', 'close'],
} as const satisfies Record<string, readonly CallKind[]>;

export type FaultKind = keyof typeof faultKinds;

export const faultSchema = z.strictObject({
  fault: z.enum(Object.keys(faultKinds) as [FaultKind, ...FaultKind[]]),
  on: z.enum(['execute', 'inquire', 'close']).optional(),
  operation: z.string().optional(),
  keyIncludes: z.string().optional(),
  bodyIncludes: z.string().optional(),
  /** How many calls it hits; 1 when absent, unbounded for a lagging read with `delayMs`. */
  times: z.int().positive().optional(),
  delayMs: z.int().nonnegative().optional(),
  connection: z.enum(['drop', 'hold']).optional(),
});

export type Fault = z.infer<typeof faultSchema>;

export interface ArmedFault {
  readonly fault: Fault;
  readonly armedAt: number;
  hits: number;
  /** Of the calls that it hit, in their order. */
  readonly keys: string[];
}

export interface Aim {
  readonly kind: CallKind;
  readonly operation: string;
  readonly key: string;
}

/** Which kind of call this is; null for everything faults leave alone. */
export function aimOf(call: HttpCall): Aim | null {
  const [head, name = '', keys, key = '', verb] = call.path;
  const post = call.method === 'POST';
  if (head === 'send' && post) return { kind: 'execute', operation: 'send', key: '' };
  if (head !== 'operations') return null;
  if (call.path.length === 2 && post) {
    const header = call.headers[headerNames.key.toLowerCase()];
    const sent = typeof header === 'string' ? (decodeKeyHeader(header) ?? '') : '';
    return { kind: 'execute', operation: name, key: sent };
  }
  if (keys !== 'keys') return null;
  if (call.path.length === 4 && call.method === 'GET')
    return { kind: 'inquire', operation: name, key };
  const closing = call.path.length === 5 && verb === 'close' && post;
  return closing ? { kind: 'close', operation: name, key } : null;
}

export function faultHits(armed: ArmedFault, aim: Aim, call: HttpCall, now: number): boolean {
  const { fault } = armed;
  if (spent(armed, now)) return false;
  const kinds: readonly CallKind[] = fault.on === undefined ? faultKinds[fault.fault] : [fault.on];
  return (
    kinds.includes(aim.kind) &&
    (fault.operation === undefined || fault.operation === aim.operation) &&
    (fault.keyIncludes === undefined || aim.key.includes(fault.keyIncludes)) &&
    (fault.bodyIncludes === undefined || call.body.toString('utf8').includes(fault.bodyIncludes))
  );
}

export function spent(armed: ArmedFault, now: number): boolean {
  const { fault, times, delayMs } = armed.fault;
  if (fault !== 'lagging_reads' || delayMs === undefined) return armed.hits >= (times ?? 1);
  return now - armed.armedAt >= delayMs || (times !== undefined && armed.hits >= times);
}

/** Why this fault cannot be armed now, or null. */
export function armingProblem(fault: Fault, armed: number): string | null {
  if (armed >= receiverLimits.faultsArmedMax) return 'too many faults are armed; DELETE /faults';
  if (fault.fault === 'delayed_commit' && fault.delayMs === undefined)
    return 'delayed_commit needs delayMs';
  return null;
}
