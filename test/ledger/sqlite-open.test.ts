// Where a ledger may be opened, and how each refusal reads.

import {
  chmod,
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { limits } from '../../core/limits.ts';
import { type Host, networkFileSystems, thisHost } from '../../ledger/host.ts';
import { openLedger } from '../../ledger/open.ts';
import { createFile } from '../../ledger/sqlite-file.ts';
import { bumpIncarnation, openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { newDirectory, newPlace } from './places.ts';

const runId = 'invoice-42';
const NOBODY = 65_534;
const note = {
  source: 'human' as const,
  body: { kind: 'command_rejected' as const, commandId: null, name: 'x', why: 'malformed' },
};

async function newLedger(): Promise<string> {
  const path = await newPlace();
  const ledger = await openSqliteLedger({ path, create: true });
  await ledger.transact({ runId }, () => ({ reply: null, facts: [note] }));
  await ledger.close();
  return path;
}

const refused = (code: string, words: RegExp) =>
  expect.objectContaining({ code, nothingWritten: true, message: expect.stringMatching(words) });

describe('creating', () => {
  test('R-073 a new ledger is one private file in a new directory, with an identity', async () => {
    const path = join(await newDirectory(), 'a', 'b', 'ledger.db');
    const ledger = await openLedger({ kind: 'sqlite', path }, { create: true });
    expect(ledger.identity).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      incarnation: 1,
    });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await ledger.close();
    expect(await readdir(join(path, '..'))).toEqual(['ledger.db']);
  });

  test('several that create the same ledger at the same time share one', async () => {
    const path = await newPlace();
    const opening = Array.from({ length: 5 }, () => openSqliteLedger({ path, create: true }));
    const ledgers = await Promise.all(opening);
    expect(new Set(ledgers.map((ledger) => ledger.identity.id)).size).toBe(1);
    for (const ledger of ledgers) await ledger.close();
  });

  test('INV-2 a ledger that another process made meanwhile is kept, and used', async () => {
    const path = await newPlace();
    const fill = async (draft: string) => {
      await writeFile(draft, 'mine');
      const other = await openSqliteLedger({ path, create: true });
      await other.transact({ runId }, () => ({ reply: null, facts: [note] }));
      await other.close();
    };
    await createFile(path, fill);
    const ledger = await openSqliteLedger({ path });
    expect((await ledger.read(runId)).head.count).toBe(1);
    await ledger.close();
    expect(await readdir(dirname(path))).toEqual(['ledger.db']);
  });

  test('an existing ledger is never made anew', async () => {
    const path = await newLedger();
    const ledger = await openSqliteLedger({ path, create: true });
    expect((await ledger.read(runId)).head.count).toBe(1);
    await ledger.close();
  });
});

describe('refusals', () => {
  test('a missing file is named, with what to do, and is not created', async () => {
    const path = await newPlace();
    await expect(openSqliteLedger({ path })).rejects.toEqual(
      refused('missing', new RegExp(`${path}.*restore a copy`)),
    );
    await expect(bumpIncarnation(path)).rejects.toEqual(refused('missing', /no such file/));
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  test('a directory is no ledger', async () => {
    const path = await newDirectory();
    await expect(openSqliteLedger({ path })).rejects.toEqual(refused('missing', /no file/));
  });

  test('an empty file is not taken for a new ledger', async () => {
    const path = await newPlace();
    await writeFile(path, '');
    await expect(openSqliteLedger({ path, create: true })).rejects.toEqual(
      refused('corrupt', /empty/),
    );
  });

  test('a log without its file is not mixed into a new ledger', async () => {
    const path = await newLedger();
    const ledger = await openSqliteLedger({ path });
    await ledger.transact({ runId }, () => ({ reply: null, facts: [note] }));
    await link(`${path}-wal`, `${path}-kept`);
    await ledger.close();
    await rm(path);
    await rename(`${path}-kept`, `${path}-wal`);
    await expect(openSqliteLedger({ path, create: true })).rejects.toEqual(
      refused('corrupt', /ledger.db-wal is there/),
    );
  });

  test('a file that is no database, or no ledger, is refused unchanged', async () => {
    const path = await newPlace();
    await writeFile(path, 'these are no pages of a database, but a text of some length'.repeat(40));
    const before = await readFile(path);
    await expect(openSqliteLedger({ path, create: true })).rejects.toEqual(
      refused('corrupt', /not a database/),
    );
    expect(await readFile(path)).toEqual(before);
    const foreign = await newPlace();
    new Database(foreign).exec('create table mine (x)').close();
    await expect(openSqliteLedger({ path: foreign })).rejects.toEqual(
      refused('corrupt', /no ledger/),
    );
  });

  test('a newer schema is refused with both versions', async () => {
    const path = await newLedger();
    new Database(path).exec('update meta set schema_version = 7').close();
    await expect(openSqliteLedger({ path })).rejects.toEqual(
      refused('newer_schema', /version 7 .* knows 3/),
    );
  });

  test.each([
    [1, ['disputed', 'waiting']],
    [2, ['waiting']],
  ])('a ledger of version %i is brought up, and keeps what it had', async (version, columns) => {
    const path = await newLedger();
    const before = await openSqliteLedger({ path });
    await before.transact({ runId }, () => ({ reply: null, facts: [note] }));
    const lines = await before.runs(10);
    await before.close();
    const old = new Database(path);
    for (const column of columns) old.exec(`alter table run drop column ${column}`);
    old.exec(`update meta set schema_version = ${version}`);
    old.close();
    const ledger = await openSqliteLedger({ path });
    expect(await ledger.runs(10)).toEqual(lines);
    await ledger.close();
    expect(new Database(path).prepare('select schema_version from meta').all()).toEqual([
      { schema_version: 3 },
    ]);
  });

  test('a ledger migrated while it was open is refused at the next transaction', async () => {
    const path = await newLedger();
    const ledger = await openSqliteLedger({ path });
    new Database(path).exec('update meta set schema_version = 7').close();
    await expect(ledger.read(runId)).rejects.toEqual(refused('newer_schema', /version 7/));
    await ledger.close();
  });

  test('INV-3 a path whose directory cannot be made is refused with the reason', async () => {
    const file = await newLedger();
    const path = join(file, 'ledger.db');
    await expect(openSqliteLedger({ path, create: true })).rejects.toEqual(
      refused('unavailable', /ENOTDIR/),
    );
  });

  test('R-060 a read-only file is refused when it is opened', async () => {
    const path = await newLedger();
    const onOpen = (connection: Database.Database) => void connection.pragma('query_only = on');
    await expect(openSqliteLedger({ path }, { onOpen })).rejects.toEqual(
      refused('read_only', /SQLITE_READONLY.*writable/),
    );
  });

  test('R-060 so is one by the permissions of its file and directory', async () => {
    const path = await newLedger();
    await chmod(path, 0o444);
    await chmod(dirname(path), 0o555);
    await asOrdinaryUser(() =>
      expect(openSqliteLedger({ path })).rejects.toEqual(refused('read_only', /writable/)),
    );
    await chmod(dirname(path), 0o755);
  });
});

/** Permissions do not hold for root. */
async function asOrdinaryUser(body: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    await body();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe('network file systems', () => {
  const on = (type: number | null): Host => ({ ...thisHost, fileSystemType: async () => type });

  test.each([...networkFileSystems])('type %i is refused as %s', async (type, name) => {
    const path = await newPlace();
    const opening = openSqliteLedger({ path, create: true }, { host: on(type) });
    await expect(opening).rejects.toEqual(
      refused('network_file_system', new RegExp(`${path}.*${name} .*disk of this host`)),
    );
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  test('a negative 32-bit number is the same type', async () => {
    const opening = openSqliteLedger({ path: await newPlace() }, { host: on(0xff534d42 | 0) });
    await expect(opening).rejects.toEqual(refused('network_file_system', /CIFS/));
  });

  test('a local type, and a platform that tells none, are accepted', async () => {
    for (const type of [0xef53, null]) {
      const host = on(type);
      await (await openSqliteLedger({ path: await newPlace(), create: true }, { host })).close();
    }
  });

  test('the nearest directory that exists is asked about a path that does not', async () => {
    const directory = await newDirectory();
    expect(await thisHost.fileSystemType(directory)).not.toBeUndefined();
    const asked: string[] = [];
    const host: Host = {
      ...thisHost,
      fileSystemType: (path) => {
        asked.push(path);
        return thisHost.fileSystemType(path);
      },
    };
    await mkdir(join(directory, 'a'));
    const path = join(directory, 'a', 'b', 'ledger.db');
    await (await openSqliteLedger({ path, create: true }, { host })).close();
    expect(asked).toEqual([path, join(directory, 'a', 'b'), join(directory, 'a')]);
  });
});

describe('one host', () => {
  let clock = 10_000_000;
  const host = (boot: string): Host => ({ ...thisHost, bootId: () => boot, clock: () => clock });
  const openOn = (path: string, boot: string) =>
    openSqliteLedger({ path, create: true }, { host: host(boot) });
  const write = (ledger: Awaited<ReturnType<typeof openOn>>) =>
    ledger.transact({ runId }, () => ({ reply: null, facts: [note] }));

  test('a ledger another host has just written is refused, with the time to wait', async () => {
    const path = await newPlace();
    const here = await openOn(path, 'here');
    await write(here);
    clock += 10_000;
    await expect(openOn(path, 'there')).rejects.toEqual(
      refused('other_host', /boot here\) wrote it 10 s ago.*in 20 s/),
    );
    await (await openOn(path, 'here')).close();
    await here.close();
  });

  test('after that time it is taken over, and the first host is refused from then on', async () => {
    const path = await newPlace();
    const here = await openOn(path, 'here');
    await write(here);
    clock += limits.ledgerHostQuietMs;
    const there = await openOn(path, 'there');
    await write(there);
    await expect(write(here)).rejects.toEqual(refused('other_host', /boot there\) has taken it/));
    await expect(here.read(runId)).rejects.toEqual(refused('other_host', /boot there/));
    expect((await there.read(runId)).head.count).toBe(2);
    await here.close();
    await there.close();
  });
});

describe('restoring', () => {
  test('a restored copy gets the next incarnation, and any host may write it', async () => {
    const path = await newLedger();
    const copy = await newPlace();
    await copyFile(path, copy);
    const restored = await bumpIncarnation(copy);
    const host: Host = { ...thisHost, bootId: () => 'elsewhere' };
    const ledger = await openSqliteLedger({ path: copy }, { host });
    expect(ledger.identity).toEqual(restored);
    expect(restored.incarnation).toBe(2);
    await ledger.close();
  });

  test('an open ledger shows the new incarnation at its next transaction', async () => {
    const path = await newLedger();
    const ledger = await openSqliteLedger({ path });
    const { id } = await bumpIncarnation(path);
    const look = ledger.transact({ runId }, (view) => ({ reply: view.ledger, facts: [] }));
    expect((await look).reply).toEqual({ id, incarnation: 2 });
    expect(ledger.identity).toEqual({ id, incarnation: 2 });
    await ledger.close();
  });

  test('INV-2 a file replaced or removed while it is open takes no more writes', async () => {
    const path = await newLedger();
    const ledger = await openSqliteLedger({ path });
    await copyFile(path, `${path}.copy`);
    await rename(`${path}.copy`, path);
    const write = () => ledger.transact({ runId }, () => ({ reply: null, facts: [note] }));
    await expect(write()).rejects.toEqual(refused('missing', /another file has taken its place/));
    await rm(path);
    await expect(write()).rejects.toEqual(refused('missing', /was removed/));
    await ledger.close();
  });
});
