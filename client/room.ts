// What the operations of the client share: where things are and how ids are drawn.

import type { Ledger } from '../ledger/port.ts';
import type { Temporal } from './temporal.ts';

export interface Room {
  readonly temporal: Temporal;
  /** Null: this client has no access to the ledger. */
  readonly ledger: Ledger | null;
  readonly runsQueue: string;
  /** A fresh random id at each call. */
  readonly newId: () => string;
}
