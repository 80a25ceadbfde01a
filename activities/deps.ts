// What the activities need, as ports: the composition root fills them, tests decorate them.

import type { KeyScope } from '../core/ids.ts';
import type { Ledger } from '../ledger/port.ts';
import type { BarrierServer } from './barrier.ts';
import type { Clock } from './clock.ts';
import type { LateSignals } from './late-signal.ts';
import type { Registry } from './registry.ts';
import type { ModelPort } from './tools/model.ts';

/** Fields that may stand in a log line: ids and kinds, never a payload or words of an error. */
export interface ActivityLogFields {
  readonly run?: string;
  readonly action?: string;
  readonly attempt?: string;
  readonly tool?: string;
  readonly verdict?: string;
  readonly state?: string;
  readonly errorType?: string;
  readonly ms?: number;
}

export interface ActivityLog {
  info(message: string, fields?: ActivityLogFields): void;
  warn(message: string, fields?: ActivityLogFields): void;
}

export interface ActivityDeps {
  readonly ledger: Ledger;
  readonly registry: Registry;
  /** Null where none is configured. */
  readonly model: ModelPort | null;
  /** Installation and namespace: part of every receiver key. */
  readonly scope: KeyScope;
  readonly barrier: BarrierServer;
  readonly signals: LateSignals;
  readonly clock: Clock;
  readonly log: ActivityLog;
  readonly barrierWaitMs: number;
  readonly sendWindowMs: number;
  /** Who opens runs here, for the claim. */
  readonly owner: string;
  /** Unguessable and never repeated, e.g. a v4 uuid. */
  readonly random: () => string;
}
