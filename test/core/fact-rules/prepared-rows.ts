// Rules of what an attempt writes down before its effect: whoever is asked about can do so no more.

import { ACTION, settle } from '../../support/asks.ts';
import { bodies } from '../../support/fact-bodies.ts';
import type { MemoryLedger } from '../../support/memory-ledger.ts';
import { change, contractOf, inquire } from '../../support/story.ts';
import { entered, executed, type Given, opened, type Row, takenOver } from './given.ts';

const prepare = bodies.attempt_prepared;
const after =
  (write: (ledger: MemoryLedger) => void): Given =>
  (ledger) => {
    entered(ledger);
    write(ledger);
  };
const doubted = after((l) => l.write('r', { source: 'history', body: bodies.action_in_doubt(l) }));
const prepared = after((l) => l.write('r', { source: 'execution', body: prepare(l) }));
const shutOut = after((l) =>
  inquire(l, {
    verdict: 'not_executed',
    proof: 'closed_token',
    contract: contractOf({ closing: 'by_token' }),
  }),
);
const elsewhere = { attemptId: `${ACTION}~2` };
export const preparedRows: Row[] = [
  [null, 'what entered', entered, prepare],
  [null, 'what was revoked: it may finish', after((l) => change(l, 'revoke')), prepare],
  ['prepares what has not entered', 'no attempt', opened, prepare],
  ['prepares what has not entered', 'another attempt', entered, (l) => prepare(l, elsewhere)],
  ['the attempt is over', 'C12 what was settled', executed, prepare],
  [
    'the attempt is over',
    'sent not at all',
    after((l) => settle(l, { outcome: 'not_sent' })),
    prepare,
  ],
  ['the attempt is over', 'C11 what a receiver has shut out', shutOut, prepare],
  ['the attempt is asked about', 'C11 what is in doubt', doubted, prepare],
  ['another claim has the run', 'B5 what an older epoch entered', takenOver, prepare],
  ['the attempt has other marks', 'a second time', prepared, (l) => prepare(l, { marks: {} })],
];
