// A run's facts as JSON lines, and back. A line ends at byte 0x0A and nowhere else: U+2028, U+2029
// and U+0085 are legal inside JSON strings. The line feed is the commit mark of its line.

import { type ChainProblem, readChain } from '../core/chain.ts';
import { canonicalBytes, canonicalJson } from '../core/digest.ts';
import type { Fact, Head } from '../core/facts.ts';
import type { Ledger } from './port.ts';

const LINE_FEED = 0x0a;
const FACTS_PER_PAGE = 500;

/** One line per fact, in order, up to the head that `read` gave. Throws LedgerError. */
export async function* exportRun(ledger: Ledger, runId: string): AsyncGenerator<Uint8Array> {
  const { head } = await ledger.read(runId);
  let after = 0;
  while (after < head.count) {
    const limit = Math.min(FACTS_PER_PAGE, head.count - after);
    for (const fact of await ledger.facts(runId, { after, limit })) yield lineOf(fact);
    after += limit;
  }
}

function lineOf(fact: Fact): Uint8Array {
  const text = canonicalBytes(fact);
  const line = new Uint8Array(text.byteLength + 1);
  line.set(text);
  line[text.byteLength] = LINE_FEED;
  return line;
}

export type ExportReading =
  | { readonly kind: 'whole'; readonly facts: readonly Fact[]; readonly head: Head }
  /** The last line was not finished: it never happened. `tail` keeps its bytes as they are. */
  | {
      readonly kind: 'torn_tail';
      readonly facts: readonly Fact[];
      readonly head: Head;
      readonly tail: Uint8Array;
      /** Facts that the head counts beyond these; null when no head was given. */
      readonly missing: number | null;
    }
  /** Damage that is no torn tail: nothing is read on from here, and nothing is repaired. */
  | { readonly kind: 'damaged'; readonly problem: ChainProblem };

export interface ExportBytes {
  readonly runId: string;
  readonly bytes: Uint8Array;
  /** Kept apart from the file; without it a dropped end cannot be seen. */
  readonly head: Head | null;
}

export function readExport({ runId, bytes, head }: ExportBytes): ExportReading {
  const end = bytes.lastIndexOf(LINE_FEED) + 1;
  const lines = linesOf(bytes.subarray(0, end));
  if ('fault' in lines) return { kind: 'damaged', problem: lines };
  const tail = bytes.slice(end);
  const isTorn = tail.byteLength > 0;
  // What a torn file has left is a prefix; whether it is one of *this* head is asked below.
  const reading = readChain({ runId, texts: lines, head: isTorn ? null : head });
  if (reading.kind === 'broken') return { kind: 'damaged', problem: reading.problem };
  const odd = lines.findIndex((line, index) => line !== canonicalJson(reading.facts[index]));
  if (odd >= 0)
    return damaged('edited', odd + 1, 'it is not in the canonical form facts are written in');
  if (!isTorn) return reading;
  if (head !== null && reading.head.count >= head.count)
    return damaged('beyond_head', reading.head.count + 1, 'the head counts no unfinished fact');
  const missing = head === null ? null : head.count - reading.head.count;
  return { ...reading, kind: 'torn_tail', tail, missing };
}

function damaged(fault: ChainProblem['fault'], seq: number, why: string): ExportReading {
  return { kind: 'damaged', problem: { fault, seq, why } };
}

function linesOf(bytes: Uint8Array): string[] | ChainProblem {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const lines: string[] = [];
  let start = 0;
  while (start < bytes.byteLength) {
    const end = bytes.indexOf(LINE_FEED, start);
    try {
      lines.push(decoder.decode(bytes.subarray(start, end)));
    } catch (error) {
      return { fault: 'unreadable', seq: lines.length + 1, why: `no UTF-8: ${String(error)}` };
    }
    start = end + 1;
  }
  return lines;
}
