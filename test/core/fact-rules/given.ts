// What had happened before the fact that a rule judges.

import type { FactBody } from '../../../core/facts.ts';
import { open, settle } from '../../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../../support/memory-ledger.ts';
import { change, end, openAndEnter } from '../../support/story.ts';

export type Given = (ledger: MemoryLedger) => void;
export type Make = (ledger: MemoryLedger) => FactBody;
/** What happened, the fact that is to be written, and the rule it breaks (null: none). */
export type Row = readonly [string | null, string, Given, Make];

export const nothing: Given = () => {};
export const opened: Given = (ledger) => void open(ledger);
export const entered: Given = (ledger) => openAndEnter(ledger);
export const executed: Given = (ledger) => {
  openAndEnter(ledger);
  settle(ledger);
};
export const ticketed: Given = (ledger) => {
  entered(ledger);
  change(ledger, 'permit', { ticket: 'ticket-1' });
};
export const takenOver: Given = (ledger) => {
  ticketed(ledger);
  open(ledger, { firstExecutionRunId: 'exec-2', ticket: 'ticket-1' });
};
export const ended: Given = (ledger) => {
  open(ledger);
  end(ledger);
};

export function revoked(ledger: MemoryLedger): void {
  open(ledger);
  change(ledger, 'revoke');
}
export function canceled(ledger: MemoryLedger): void {
  open(ledger);
  change(ledger, 'cancel');
}
export function openedLedger(): MemoryLedger {
  const ledger = memoryLedger();
  open(ledger);
  return ledger;
}
export function enteredLedger(): MemoryLedger {
  const ledger = memoryLedger();
  openAndEnter(ledger);
  return ledger;
}
