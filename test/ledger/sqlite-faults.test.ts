// Stores that are damaged, full or in the way, and what a caller may conclude.

import { open, stat } from 'node:fs/promises';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { genesisHead, sealFact } from '../../core/chain.ts';
import { genesisBase } from '../../core/consumes.ts';
import { digestOf, digestOfBytes } from '../../core/digest.ts';
import * as sample from '../../ledger/conformance/sample-facts.ts';
import { fastDigestOf } from '../../ledger/payloads.ts';
import type { Ledger } from '../../ledger/port.ts';
import { sqliteDialect, sqliteMeanings } from '../../ledger/sqlite-dialect.ts';
import { openSqliteLedger, type SqliteSurroundings } from '../../ledger/sqlite-ledger.ts';
import { newPlace } from './places.ts';

const runId = 'invoice-42';
const steps = [1, 2, 3].map((step) => ({ runId, step }));

function enter(ledger: Ledger, step: sample.Step) {
  return ledger.transact({ runId }, (view) => ({
    reply: null,
    facts: [
      ...(view.run.opened === null ? [sample.opened(view.ledger)] : []),
      sample.entered(step),
    ],
    gateRows: [sample.enteredRow(step)],
    payloads: [sample.inputOf(step)],
  }));
}

/** A run of four facts. */
async function newLedger(around: Partial<SqliteSurroundings> = {}) {
  const path = await newPlace();
  const ledger = await openSqliteLedger({ path, create: true }, around);
  for (const step of steps) await enter(ledger, step);
  return { path, ledger };
}

/** Changes the file as somebody with another program would. */
function tamper(path: string, ...statements: string[]): void {
  const db = new Database(path);
  db.exec('drop trigger fact_no_update; drop trigger fact_no_delete');
  for (const statement of statements) db.exec(statement);
  db.close();
}

const dump = (path: string) => {
  const db = new Database(path, { readonly: true });
  const rows = ['run', 'fact', 'gate_row', 'payload', 'doubt'].map((table) =>
    db.prepare(`select * from ${table}`).raw().all(),
  );
  db.close();
  return rows;
};

const failed = (code: string, words: RegExp, nothingWritten = true) =>
  expect.objectContaining({ code, nothingWritten, message: expect.stringMatching(words) });

const changed = digestOf('changed');
const damages: [string, string, RegExp][] = [
  [
    'a fact is edited',
    "update fact set text = replace(text, 'desk', 'dusk') where seq = 2",
    /2.*edited/,
  ],
  [
    'the last fact is edited',
    "update fact set text = replace(text, 'ticket', 'tocket') where seq = 4",
    /4: .*\(/,
  ],
  ['a fact is missing in the middle', 'delete from fact where seq = 2', /2: .*\(gap\)/],
  ['the last fact is missing', 'delete from fact where seq = 4', /4: .*\(tail_dropped\)/],
  [
    'a column says another number',
    'update fact set seq = 9 where seq = 4',
    /9: its columns.*\(edited\)/,
  ],
  [
    'a column says another hash',
    `update fact set hash = '${changed}' where seq = 2`,
    /2: its columns/,
  ],
  ['the head says another hash', `update run set head_hash = '${changed}'`, /4: .*\(edited\)/],
  ['the head says fewer', 'update run set count = 3', /4: .*\(beyond_head\)/],
  ['the head is gone', 'delete from run', /1: .*\(beyond_head\)/],
  [
    'a text is of a later version',
    `update fact set text = replace(text, 'fast/1', 'fast/2') where seq = 3`,
    /3: .*\(unknown_schema\)/,
  ],
];

describe('a damaged run', () => {
  test.each(damages)('R-071 when %s it is refused by run and number', async (_, statement, at) => {
    const { path, ledger } = await newLedger();
    await ledger.close();
    tamper(path, statement);
    const before = dump(path);
    const again = await openSqliteLedger({ path });
    const words = new RegExp(`${path}: run ${runId}, fact ${at.source}.*nothing was changed`);
    await expect(again.read(runId)).rejects.toEqual(failed('corrupt', words));
    await expect(enter(again, { runId, step: 9 })).rejects.toEqual(failed('corrupt', words));
    expect(dump(path)).toEqual(before);
    await again.close();
  });

  test('R-071 pages of facts are checked against their links, too', async () => {
    const { path, ledger } = await newLedger();
    tamper(path, 'delete from fact where seq = 2');
    const page = (after: number, limit: number) => ledger.facts(runId, { after, limit });
    await expect(page(0, 3)).rejects.toEqual(failed('corrupt', /fact 2: .*\(gap\)/));
    await expect(page(2, 1)).rejects.toEqual(failed('corrupt', /fact 2: .*\(gap\)/));
    expect(await page(3, 9)).toHaveLength(1);
    await ledger.close();
  });

  test('R-054 a result without its intent is corrupt even when the chain is whole', async () => {
    const { path, ledger } = await newLedger();
    const other = { runId: 'invoice-43', step: 1 };
    await ledger.close();
    const fact = sample.settled(other, sample.payloadOf('orphan'));
    const sealed = sealFact({ runId: other.runId, head: genesisHead(other.runId), at: 1, fact });
    const db = new Database(path);
    db.prepare('insert into fact values (?, 1, ?, null, ?, ?)').run(
      other.runId,
      'attempt_settled',
      sealed.text,
      sealed.head.hash,
    );
    db.prepare('insert into run values (?, 1, ?, 1, 0, 0, 0, 0)').run(
      other.runId,
      sealed.head.hash,
    );
    db.close();
    const before = dump(path);
    const again = await openSqliteLedger({ path });
    await expect(again.read(other.runId)).rejects.toEqual(
      failed('corrupt', /run invoice-43, fact 1: result without intent \(rule\)/),
    );
    expect(dump(path)).toEqual(before);
    expect((await again.read(runId)).head.count).toBe(4);
    await again.close();
  });

  test('R-071 payload bytes of another digest are refused', async () => {
    const { path, ledger } = await newLedger();
    const { digest } = sample.inputOf({ runId, step: 1 });
    new Database(path).exec("update payload set bytes = x'00'").close();
    await expect(ledger.payload(digest)).rejects.toEqual(
      failed('corrupt', new RegExp(`payload ${digest} has bytes of digest`)),
    );
    await ledger.close();
  });

  test('a ledger whose file was cut in the middle says so and writes nothing', async () => {
    const { path, ledger } = await newLedger();
    await ledger.close();
    const { size } = await stat(path);
    const file = await open(path, 'r+');
    await file.truncate(Math.floor(size / 2 / 4096) * 4096);
    await file.close();
    const reading = openSqliteLedger({ path }).then((again) => again.read(runId));
    await expect(reading).rejects.toEqual(failed('corrupt', /SQLITE_CORRUPT.*restore a copy/));
    expect((await stat(path)).size).toBe(Math.floor(size / 2 / 4096) * 4096);
  });

  test('INV-7 the store itself refuses changes of facts and of gate rows', async () => {
    const { path, ledger } = await newLedger();
    const db = new Database(path);
    for (const table of ['fact', 'gate_row'])
      for (const statement of [`update ${table} set kind = 'x'`, `delete from ${table}`])
        expect(() => db.exec(statement)).toThrow(`${table} rows are append-only`);
    db.close();
    await ledger.close();
  });
});

describe('a store that cannot write', () => {
  test('R-060 a full one refuses the whole transaction and goes on with smaller ones', async () => {
    const { path, ledger } = await newLedger();
    await ledger.close();
    const pages = (await stat(path)).size / 4096;
    const onOpen = (connection: Database.Database) =>
      void connection.pragma(`max_page_count = ${pages + 4}`);
    const tight = await openSqliteLedger({ path }, { onOpen });
    const before = dump(path);
    const bytes = new Uint8Array(100_000).fill(7);
    const step = { runId, step: 9 };
    const attempt = tight.transact({ runId }, () => ({
      reply: null,
      facts: [sample.entered(step)],
      gateRows: [sample.enteredRow(step)],
      payloads: [{ digest: digestOfBytes(bytes), bytes }],
    }));
    await expect(attempt).rejects.toEqual(failed('full', /SQLITE_FULL.*free disk space/));
    expect(dump(path)).toEqual(before);
    expect((await tight.read(runId)).head.count).toBe(4);
    expect((await enter(tight, { runId, step: 8 })).head.count).toBe(5);
    await tight.close();
  });

  test('R-060 one that became read-only refuses before anything is decided', async () => {
    const { path, ledger } = await newLedger();
    await ledger.close();
    let inner: Database.Database | undefined;
    const again = await openSqliteLedger(
      { path },
      { onOpen: (connection) => (inner = connection) },
    );
    inner?.pragma('query_only = on');
    let decided = false;
    const attempt = again.transact({ runId }, () => {
      decided = true;
      return { reply: null, facts: [sample.inDoubt({ runId, step: 1 })] };
    });
    await expect(attempt).rejects.toEqual(failed('read_only', /SQLITE_READONLY/));
    expect(decided).toBe(false);
    expect((await again.read(runId)).head.count).toBe(4);
    await again.close();
  });

  test('INV-3 an error at COMMIT does not claim that nothing was written', async () => {
    const { path, ledger } = await newLedger();
    await ledger.close();
    new Database(path)
      .exec('create table parent (x primary key)')
      .exec('create table child (x references parent deferrable initially deferred)')
      .exec('create trigger late after insert on fact begin insert into child values (1); end')
      .close();
    const again = await openSqliteLedger(
      { path },
      { onOpen: (connection) => void connection.pragma('foreign_keys = on') },
    );
    const step = { runId, step: 9 };
    await expect(enter(again, step)).rejects.toEqual(
      failed('rule_violation', /SQLITE_CONSTRAINT/, false),
    );
    new Database(path).exec('drop trigger late').close();
    expect((await again.read(runId)).head.count).toBe(4);
    expect((await enter(again, step)).head.count).toBe(5);
    await again.close();
  });

  test('INV-3 when ROLLBACK fails, nothing is claimed and the connection is closed', async () => {
    const { path, ledger } = await newLedger();
    await ledger.close();
    const onOpen = (connection: Database.Database) => {
      const prepare = connection.prepare.bind(connection);
      connection.prepare = ((text: string) => {
        if (text === 'rollback') throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR');
        return prepare(text);
      }) as typeof connection.prepare;
    };
    const again = await openSqliteLedger({ path }, { onOpen });
    const attempt = again.transact({ runId }, () => {
      throw new Error('no decision');
    });
    await expect(attempt).rejects.toEqual(failed('unavailable', /rolled back/, false));
    await expect(again.read(runId)).rejects.toEqual(failed('unavailable', /open it again/));
    const fresh = await openSqliteLedger({ path });
    expect((await fresh.read(runId)).head.count).toBe(4);
    await fresh.close();
  });

  test('R-060 a lock held too long elsewhere is unavailable, and nothing was written', async () => {
    const { path, ledger } = await newLedger();
    await ledger.close();
    const again = await openSqliteLedger({ path }, { busyMs: 30 });
    const other = new Database(path);
    other.exec('begin immediate');
    await expect(enter(again, { runId, step: 9 })).rejects.toEqual(
      failed('unavailable', /SQLITE_BUSY.*try again/),
    );
    expect((await again.read(runId)).head.count).toBe(4);
    other.exec('rollback');
    other.close();
    expect((await enter(again, { runId, step: 9 })).head.count).toBe(5);
    await again.close();
  });
});

test('R-060 a lock held elsewhere is waited for; nothing else in the process waits', async () => {
  const { path, ledger } = await newLedger();
  const other = new Database(path);
  other.exec('begin immediate');
  const entering = enter(ledger, { runId, step: 9 });
  // Only an event loop that goes on can ever end the other transaction.
  for (let turns = 0; turns < 3; turns++) await new Promise((go) => setImmediate(go));
  other.exec('rollback');
  other.close();
  expect((await entering).head.count).toBe(5);
  await ledger.close();
});

describe('the table of SQLite errors', () => {
  test('R-060 every code has a meaning of its own, extended codes that of their family', () => {
    const meaningOf = (code: string) =>
      sqliteDialect.meaningOf(new Database.SqliteError('words', code))?.code;
    expect(
      Object.fromEntries(
        [...Object.keys(sqliteMeanings), 'SQLITE_IOERR_WRITE', 'SQLITE_NEW'].map((code) => [
          code,
          meaningOf(code),
        ]),
      ),
    ).toMatchInlineSnapshot(`
      {
        "": "unavailable",
        "SQLITE_AUTH": "unavailable",
        "SQLITE_BUSY": "unavailable",
        "SQLITE_CANTOPEN": "unavailable",
        "SQLITE_CONSTRAINT": "rule_violation",
        "SQLITE_CORRUPT": "corrupt",
        "SQLITE_FULL": "full",
        "SQLITE_IOERR": "unavailable",
        "SQLITE_IOERR_CORRUPTFS": "corrupt",
        "SQLITE_IOERR_WRITE": "unavailable",
        "SQLITE_LOCKED": "unavailable",
        "SQLITE_NEW": "unavailable",
        "SQLITE_NOLFS": "unavailable",
        "SQLITE_NOMEM": "unavailable",
        "SQLITE_NOTADB": "corrupt",
        "SQLITE_PERM": "unavailable",
        "SQLITE_PROTOCOL": "unavailable",
        "SQLITE_READONLY": "read_only",
        "SQLITE_TOOBIG": "payload_too_large",
      }
    `);
  });

  test('other errors are none of the store', () => {
    expect(sqliteDialect.meaningOf(new Error('SQLITE_FULL'))).toBeNull();
  });

  test('the fast digest is the digest', () => {
    const bytes = new TextEncoder().encode(genesisBase(runId));
    expect(fastDigestOf(bytes)).toBe(digestOfBytes(bytes));
  });
});
