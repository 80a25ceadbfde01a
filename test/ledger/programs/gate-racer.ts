// A worker at the gate, without anything else: commits what it decides, or what it had decided
// before. One JSON order a line; one JSON answer a line.

import { decideEntry, type EntryAsk } from '../../../core/gate.ts';
import { jsonLines } from '../../../ledger/conformance/writer.ts';
import { LedgerError } from '../../../ledger/port.ts';
import { openSqliteLedger } from '../../../ledger/sqlite-ledger.ts';
import { entryAsk, RUN } from '../../support/asks.ts';

export interface RacerOrder {
  /**
   * `enter`: the gate, decided inside its transaction. `look`: decides on what is there now.
   * `commit`: writes what `look` had decided, whatever is there by then.
   */
  readonly kind: 'enter' | 'look' | 'commit';
  readonly actionId: string;
  readonly attemptId: string;
}

/** A verdict, or the code and words by which the store refused. */
export type RacerAnswer =
  | { readonly verdict: string }
  | { readonly refused: string; readonly words: string };

const ledger = await openSqliteLedger({ path: process.argv[2] as string });
/** As the workflow decided: the revisions and the epoch of when this process began. */
const began = await ledger.read(RUN);
const { revisions, opened } = began;
const decided = new Map<string, ReturnType<ReturnType<typeof decideEntry>>>();

const say = (line: string) => process.stdout.write(`${line}\n`);
say('READY');
for await (const order of jsonLines(process.stdin))
  say(`ANSWER ${JSON.stringify(await answer(order as RacerOrder))}`);
await ledger.close();

async function answer(order: RacerOrder): Promise<RacerAnswer> {
  try {
    return { verdict: await carriedOut(order) };
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    return { refused: error.code, words: error.message };
  }
}

async function carriedOut({ kind, actionId, attemptId }: RacerOrder): Promise<string> {
  const ask: EntryAsk = entryAsk(
    { identity: ledger.identity, run: () => began },
    { actionId, attemptId, entryToken: attemptId, revisions, epoch: opened?.epoch ?? 0 },
  );
  const look = { runId: RUN, actionId, attemptId, pin: ask.pin.head };
  if (kind === 'enter') return (await ledger.transact(look, decideEntry(ask))).reply.verdict;
  if (kind === 'look') {
    const looked = await ledger.transact(look, (view) => {
      decided.set(attemptId, decideEntry(ask)(view));
      return { reply: decided.get(attemptId)?.reply.verdict ?? '', facts: [] };
    });
    return looked.reply;
  }
  const decision = decided.get(attemptId);
  if (decision === undefined) throw new Error(`${attemptId}: it has not looked`);
  return (await ledger.transact(look, () => decision)).reply.verdict;
}
