// The other process of the conformance checks: works through steps and says each commit aloud, one
// JSON line each, after `transact` has resolved and not before.

import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Digest } from '../../core/digest.ts';
import type { Head } from '../../core/facts.ts';
import { type Ledger, LedgerError } from '../port.ts';
import {
  attemptOf,
  entered,
  enteredRow,
  inputOf,
  opened,
  payloadOf,
  type Step,
  settled,
} from './sample-facts.ts';

/** Steps `from`, `from + 1` … of the run. */
export interface WriterOrder {
  readonly runId: string;
  readonly from: number;
  readonly count: number;
  readonly entryToken: string;
}

/** One commit that the writer was told of. */
export interface Acknowledged {
  readonly runId: string;
  readonly step: number;
  /** Facts of the run that the decision saw. */
  readonly saw: number;
  readonly head: Head;
  readonly did: 'entered' | 'settled' | 'found_row' | 'found_result';
  /** Token in the attempt's gate row after the commit. */
  readonly entryToken: string | null;
  readonly payload: Digest | null;
}

export type WriterLine =
  | { readonly kind: 'ready' }
  | { readonly kind: 'commit'; readonly commit: Acknowledged }
  | { readonly kind: 'done' }
  | { readonly kind: 'error'; readonly message: string };

/**
 * Serves orders, one JSON line each, until `input` ends; then closes the ledger. An adapter's
 * writer program opens its ledger and calls this with its own standard streams.
 */
export async function serveWriter(
  ledger: Ledger,
  { input, output }: { input: Readable; output: Writable },
): Promise<void> {
  const say = (line: WriterLine) => output.write(`${JSON.stringify(line)}\n`);
  say({ kind: 'ready' });
  for await (const line of jsonLines(input)) {
    try {
      await workThrough(ledger, line as WriterOrder, (commit) => say({ kind: 'commit', commit }));
      say({ kind: 'done' });
    } catch (error) {
      say({ kind: 'error', message: String(error) });
    }
  }
  await ledger.close();
}

export async function* jsonLines(input: Readable): AsyncGenerator<unknown> {
  let rest = '';
  for await (const chunk of input.setEncoding('utf8')) {
    const lines = `${rest}${chunk as string}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as unknown;
  }
}

async function workThrough(
  ledger: Ledger,
  order: WriterOrder,
  say: (commit: Acknowledged) => void,
): Promise<void> {
  for (let step = order.from; step < order.from + order.count; step++) {
    const at = { runId: order.runId, step };
    say(await patiently(() => enter(ledger, at, order.entryToken)));
    say(await patiently(() => settle(ledger, at)));
  }
}

/** How long a writer that never gets its turn tries again, and its pause between tries. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 50;

/** A ledger may be unavailable when others crowd it, as long as it then has written nothing. */
async function patiently<T>(commit: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await commit();
    } catch (error) {
      const again = error instanceof LedgerError && error.code === 'unavailable';
      if (!again || !error.nothingWritten || Date.now() > deadline) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

type Seen = Pick<Acknowledged, 'saw' | 'did' | 'entryToken'>;

async function enter(ledger: Ledger, at: Step, entryToken: string): Promise<Acknowledged> {
  const look = { runId: at.runId, attemptId: attemptOf(at) };
  const input = inputOf(at);
  const { reply, head } = await ledger.transact<Seen>(
    look,
    ({ run, gateRow, ledger: identity }) => {
      const saw = run.head.count;
      if (gateRow !== null) {
        const token = gateRow.kind === 'entered' ? gateRow.entryToken : null;
        return { reply: { saw, did: 'found_row', entryToken: token }, facts: [] };
      }
      const opening = run.opened === null ? [opened(identity)] : [];
      return {
        reply: { saw, did: 'entered', entryToken },
        facts: [...opening, entered(at, entryToken)],
        gateRows: [enteredRow(at, entryToken)],
        payloads: [input],
      };
    },
  );
  return { ...at, ...reply, head, payload: input.digest };
}

async function settle(ledger: Ledger, at: Step): Promise<Acknowledged> {
  const result = payloadOf({ ticket: at.step, run: at.runId });
  const { reply, head } = await ledger.transact<Seen>({ runId: at.runId }, ({ run }) => {
    const saw = run.head.count;
    const attempts = [...run.actions.values()].flatMap((action) => action.attempts);
    const attempt = attempts.find((each) => each.attemptId === attemptOf(at));
    if (attempt?.settled !== null)
      return { reply: { saw, did: 'found_result', entryToken: null }, facts: [] };
    return {
      reply: { saw, did: 'settled', entryToken: null },
      facts: [settled(at, result)],
      payloads: [result],
    };
  });
  return { ...at, ...reply, head, payload: result.digest };
}
