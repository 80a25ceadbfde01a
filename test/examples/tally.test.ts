import { expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import { receiverKeyOf } from '../../core/ids.ts';
import { type EffectRow, tallyOf } from '../../examples/support-desk/tally.ts';
import { enter, open, payloadOf, RUN, scope, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';

const TICKETS = ['t1.c1', 't1.c2', 't1.c3'].map((position) => `${RUN}.${position}`);
const NOTICE = `${RUN}.t2.c1`;
const READ = `${RUN}.t3.c1`;
const mail = { to: 'lead@example.com', subject: 'done', body: '' };

function entered(ledger: MemoryLedger, actionId: string, replay: 'keyed' | 'never' | 'safe'): void {
  const payload = payloadOf(actionId === NOTICE ? mail : { same: 'text' });
  const intentDigest = replay === 'safe' ? null : digestOf(actionId);
  enter(ledger, { actionId, attemptId: `${actionId}~1`, replay, payload, intentDigest });
}

/** Three tickets, a notice whose reply is lost, and a read that is no effect. */
function workedRun(): MemoryLedger {
  const ledger = memoryLedger();
  open(ledger);
  for (const actionId of TICKETS) entered(ledger, actionId, 'keyed');
  entered(ledger, READ, 'safe');
  entered(ledger, NOTICE, 'never');
  for (const [index, actionId] of [...TICKETS, READ].entries())
    settle(ledger, {
      actionId,
      attemptId: `${actionId}~1`,
      source: index === 1 ? 'receiver_inquiry' : 'execution',
    });
  return ledger;
}

function rows(): EffectRow[] {
  const tickets = TICKETS.map((actionId) => ({
    receiver: 'tickets',
    key: receiverKeyOf(scope, actionId),
    payload: null,
  }));
  return [...tickets, { receiver: 'gateway', key: null, payload: digestOf(mail) }];
}

const tally = (ledger: MemoryLedger, effects: readonly EffectRow[]) =>
  tallyOf({ run: ledger.run(RUN), facts: ledger.facts(RUN), effects });

test('one effect at a receiver for each intent is no duplicate and nothing lost', () => {
  expect(tally(workedRun(), rows())).toEqual({
    intents: 4,
    effects: 4,
    duplicates: 0,
    lost: 0,
    settledByInquiry: 1,
    settledByPerson: 0,
    openUnknowns: 1,
  });
});

test.each([0, 1, 2, 3])('a row of a receiver that is there twice (%i) is a duplicate', (index) => {
  const twice = [...rows(), rows()[index] as EffectRow];
  expect(tally(workedRun(), twice)).toMatchObject({ effects: 5, duplicates: 1, lost: 0 });
});

test.each([0, 1, 2, 3])('a row of a receiver that is missing (%i) is a lost effect', (index) => {
  const missing = rows().toSpliced(index, 1);
  expect(tally(workedRun(), missing)).toMatchObject({ effects: 3, duplicates: 0, lost: 1 });
});

test('an effect that nobody intended counts, too', () => {
  const foreign = { receiver: 'tickets', key: 'test/default/r.t9.c1', payload: null };
  expect(tally(workedRun(), [...rows(), foreign])).toMatchObject({ duplicates: 1, lost: 0 });
});

test('an intent that the receiver refused is not lost', () => {
  const ledger = memoryLedger();
  open(ledger);
  entered(ledger, NOTICE, 'never');
  settle(ledger, { actionId: NOTICE, attemptId: `${NOTICE}~1`, outcome: 'refused' });
  expect(tally(ledger, [])).toMatchObject({ intents: 1, effects: 0, lost: 0, openUnknowns: 0 });
});
