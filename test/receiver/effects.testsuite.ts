// Rules of an effect inside the receiver's transaction, over either store.
// Catches: somebody let in between, and a half of an effect that stays.

import { expect, test } from 'vitest';
import type { EffectTx, LocalOperation, Receiver } from '../../receiver/index.ts';
import { deferred, type Open } from './stage.ts';

const identity = { principal: 'u1', operation: 'act', version: '1', key: 'k' };
const act = (receiver: Receiver, more: object = {}) =>
  receiver.execute({ ...identity, input: null, ...more });

const tables: NonNullable<LocalOperation['tables']> = ({ serial, strict }) =>
  `CREATE TABLE IF NOT EXISTS done (id ${serial}, word TEXT NOT NULL UNIQUE) ${strict}`;
const add = (tx: EffectTx, word: string) => tx.run('INSERT INTO done (word) VALUES (?)', word);
const WORDS = 'SELECT word FROM done ORDER BY word';

function operation(apply: LocalOperation['apply']) {
  return { operations: { act: { version: '1', tables, apply } } };
}

export function effectRules(open: Open): void {
  test('A4: of fifty concurrent requests with one key one has an effect', async () => {
    const { receiver, place } = await open(
      operation(async (tx) => {
        await add(tx, 'once');
        return { externalId: 'x' };
      }),
    );
    const answers = await Promise.all(Array.from({ length: 50 }, () => act(receiver)));
    const fresh = answers.filter((answer) => answer.kind === 'executed' && !answer.replayed);
    expect(fresh).toHaveLength(1);
    for (const answer of answers) expect(['executed', 'in_progress']).toContain(answer.kind);
    expect(await place.rows(WORDS)).toEqual([{ word: 'once' }]);
    expect(await receiver.effects()).toHaveLength(1);
  });

  test('A4: an effect that awaits lets neither twin nor closing in between', async () => {
    const gate = deferred<void>();
    const begun = deferred<void>();
    const { receiver } = await open(
      operation(async (tx) => {
        await add(tx, 'half');
        begun.resolve();
        await gate.promise;
        await add(tx, 'whole');
        return { externalId: 'x' };
      }),
    );
    const first = act(receiver);
    await begun.promise;
    const others = [act(receiver), receiver.close(identity)];
    gate.resolve();
    expect(await first).toMatchObject({ kind: 'executed', replayed: false });
    const [twin, closed] = await Promise.all(others);
    expect(twin).toMatchObject({ kind: 'executed', replayed: true });
    expect(closed).toMatchObject({ kind: 'executed', externalId: 'x' });
    expect(await receiver.effects()).toHaveLength(1);
  });

  test('A13: a closing that cannot wait longer says in flight, closes nothing', async () => {
    const gate = deferred<void>();
    const begun = deferred<void>();
    const { receiver, place } = await open(
      operation(async () => {
        begun.resolve();
        await gate.promise;
        return { externalId: 'x' };
      }),
    );
    const { receiver: hasty } = await open({ place, busyTimeoutMs: 20 });
    const first = act(receiver);
    await begun.promise;
    expect(await hasty.close(identity)).toMatchObject({ kind: 'in_flight' });
    gate.resolve();
    expect(await first).toMatchObject({ kind: 'executed' });
    expect(await hasty.close(identity)).toMatchObject({ kind: 'executed' });
  });

  test('A4: an effect without end is rolled back; its late writes come to nothing', async () => {
    const late = deferred<void>();
    const told = deferred<unknown>();
    let begun = false;
    const { receiver, place } = await open({
      ...operation(async (tx) => {
        begun = true;
        await add(tx, 'once');
        await late.promise;
        await add(tx, 'late').catch(told.resolve);
        return { externalId: 'late' };
      }),
      transactionMs: 100,
    });
    // On a crowded machine the time may be over before the effect has begun.
    while (!begun) expect(await act(receiver)).toMatchObject({ kind: 'not_taken' });
    expect(await place.rows(WORDS)).toEqual([]);
    late.resolve();
    expect(await told.promise).toMatchObject({ message: expect.stringMatching(/is over/) });
    const quick = operation(async (tx) => {
      await add(tx, 'once');
      return { externalId: 'x' };
    });
    const { receiver: again } = await open({ ...quick, place });
    expect(await act(again)).toMatchObject({ kind: 'executed', externalId: 'x' });
    expect(await place.rows(WORDS)).toEqual([{ word: 'once' }]);
  });

  test('A4: where a closing left the row, of fifty later requests one has an effect', async () => {
    const { receiver, place } = await open();
    const tickets = { ...identity, operation: 'open_ticket', input: { subject: 's' } };
    await receiver.close(tickets, { epoch: 1, number: 1 });
    const sendToken = { epoch: 1, number: 2 };
    await Promise.all(
      Array.from({ length: 50 }, () => receiver.execute({ ...tickets, sendToken })),
    );
    expect(await place.rows('SELECT key FROM ticket')).toEqual([{ key: 'k' }]);
    expect(await receiver.effects()).toHaveLength(1);
  });

  test('A4: an effect that would end its transaction is rolled back', async () => {
    const { receiver, place } = await open(
      operation(async (tx, input) => {
        await add(tx, 'word');
        await tx.run(String(input)).catch(() => undefined);
        return { externalId: 'x' };
      }),
    );
    for (const input of ['COMMIT', ' rollback', 'SAVEPOINT effect', 'END'])
      expect(await act(receiver, { input })).toMatchObject({ kind: 'not_taken' });
    expect(await place.rows(WORDS)).toEqual([]);
  });

  test('A4: a constraint that breaks at the commit leaves nothing, and says so', async () => {
    const { receiver, place } = await open({
      operations: {
        act: {
          version: '1',
          tables: ({ integer, strict }) =>
            `CREATE TABLE IF NOT EXISTS done (word TEXT PRIMARY KEY, next TEXT
               REFERENCES done (word) DEFERRABLE INITIALLY DEFERRED, n ${integer}) ${strict}`,
          async apply(tx, input) {
            const sql = 'INSERT INTO done (word, next) VALUES (?, ?)';
            await tx.run(sql, 'one', 'two');
            if (input === 'both') await tx.run(sql, 'two', 'one');
            return { externalId: 'x' };
          },
        },
      },
    });
    expect(await act(receiver)).toMatchObject({ kind: 'not_taken' });
    expect(await place.rows(WORDS)).toEqual([]);
    expect(await act(receiver, { input: 'both' })).toMatchObject({ kind: 'executed' });
  });

  test('A8: a statement that failed dooms the effect, although it was caught', async () => {
    const { receiver, place } = await open(
      operation(async (tx, input) => {
        await add(tx, 'word');
        if (input === null) await add(tx, 'word').catch(() => undefined);
        return { externalId: 'x' };
      }),
    );
    expect(await act(receiver)).toMatchObject({ kind: 'not_taken' });
    expect(await place.rows(WORDS)).toEqual([]);
    expect(await receiver.inquire(identity)).toEqual({ kind: 'no_record' });
    expect(await act(receiver, { input: 1 })).toMatchObject({ kind: 'executed' });
  });

  test('A11: after a failed statement a rejection undoes the writes, and stays', async () => {
    const { receiver, place } = await open(
      operation(async (tx) => {
        await add(tx, 'word');
        const taken = { rejected: { code: 'taken', message: 'the word is taken' } };
        return await add(tx, 'word').then(
          () => ({ externalId: 'x' }),
          () => taken,
        );
      }),
    );
    expect(await act(receiver)).toMatchObject({ kind: 'rejected', replayed: false });
    expect(await place.rows(WORDS)).toEqual([]);
    expect(await act(receiver)).toMatchObject({ kind: 'rejected', replayed: true });
    expect(await receiver.effects()).toEqual([]);
  });

  test('A4: a write that nobody awaited is in the transaction, or fails it', async () => {
    const { receiver, place } = await open(
      operation((tx) => {
        void add(tx, 'in passing');
        return { externalId: 'x' };
      }),
    );
    expect(await act(receiver)).toMatchObject({ kind: 'executed' });
    expect(await place.rows(WORDS)).toEqual([{ word: 'in passing' }]);
  });

  test('placeholders stand for values, wherever else a question mark is', async () => {
    const { receiver } = await open(
      operation(async (tx) => {
        const sql = `SELECT '?' AS quoted, "word" AS "na?me" /* ? */ FROM done -- ?
          WHERE word = ? OR word = ?`;
        await add(tx, 'two');
        const row = await tx.get(sql, 'one', 'two');
        return { externalId: 'x', result: [String(row?.['quoted']), String(row?.['na?me'])] };
      }),
    );
    expect(await act(receiver)).toMatchObject({ kind: 'executed', result: ['?', 'two'] });
  });

  test('B12: every executed operation is found from the rows of its target alone', async () => {
    const { receiver, place } = await open();
    const sendToken = { epoch: 3, number: 2 };
    const calls = [
      ['open_ticket', 'ticket', { subject: 's' }],
      ['open_ticket', 'notification', { subject: 's' }],
      ['create_record', 'record', { name: 'n' }],
      ['add', 'counter_change', { counter: 'c', delta: 1 }],
      ['credit', 'account_change', { account: 'a', amount: 1 }],
      ['send_notice', 'notice', { to: 't' }],
    ] as const;
    for (const [name, table, input] of calls) {
      const request = { principal: 'u9', operation: name, version: '1', key: `${name}-7` };
      await receiver.execute({ ...request, input, sendToken });
      const rows = await place.rows(
        `SELECT principal, key, token_epoch, token_number FROM ${table}`,
      );
      const found = rows.map((row) => [row['principal'], row['key'], Number(row['token_epoch'])]);
      expect(found).toEqual([['u9', `${name}-7`, 3]]);
    }
    expect(await receiver.effects()).toHaveLength(calls.length - 1);
  });
}
