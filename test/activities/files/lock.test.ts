// The kernel's lock at a target, in one process with several openings of the lock file. Would catch
// a lock that goes by the file's content or age, one taken on a file that has lost its name, and a
// link planted at the lock's name.

import { mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withLock } from '../../../activities/tools/files/lock.ts';
import { lockName } from '../../../activities/tools/files/names.ts';
import { type FileSystem, nodeFiles } from '../../../activities/tools/files/system.ts';
import { tempDir } from '../../support/temp-dir.ts';

const NAME = 'state.json';
const LOCK = lockName(NAME);
const SHOWN = `work/${LOCK}`;
const HOUR_MS = 3_600_000;

/** Lets everybody wait as long as it takes; the test's own limit ends it. */
const PATIENT_MS = 60_000;

function at(directory: string) {
  const below = { at: (name: string) => join(directory, name) };
  return { directory: below, name: NAME, path: `work/${NAME}` } as Parameters<typeof withLock>[1];
}

interface Ask {
  readonly directory: string;
  readonly files?: FileSystem;
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

function underLock<R>(ask: Ask, body: () => Promise<R>) {
  const { directory, files = nodeFiles, waitMs = PATIENT_MS } = ask;
  const { signal = new AbortController().signal } = ask;
  return withLock(files, at(directory), { waitMs, signal }, body);
}

const inside = async () => 'inside' as const;

/** Has the lock until `release` is called, and says how the holder ended. */
async function held(ask: Ask) {
  let release = () => {};
  let got = () => {};
  const isHeld = new Promise<void>((resolve) => {
    got = resolve;
  });
  const free = new Promise<void>((resolve) => {
    release = resolve;
  });
  const ended = underLock(ask, async () => {
    got();
    await free;
    return 'held' as const;
  });
  await isHeld;
  return { release, ended };
}

test.each([
  ['K-118 the id of a process that lives', `${process.pid}\n`],
  ['K-118 the id of a process that is gone', '2147483646\n'],
  ['K-119 a half-written record', '{"pi'],
  ['nothing', ''],
])('C10 a lock file with %s is free, is taken at once and left as it is', async (_case, text) => {
  const directory = tempDir();
  writeFileSync(join(directory, LOCK), text);
  expect(await underLock({ directory, waitMs: 0 }, inside)).toBe('inside');
  expect(await underLock({ directory, waitMs: 0 }, inside)).toBe('inside');
  expect(readFileSync(join(directory, LOCK), 'utf8')).toBe(text);
});

test('C10 a lock file that looks an hour old is not broken while it is held', async () => {
  const directory = tempDir();
  const holder = await held({ directory });
  const old = new Date(Date.now() - HOUR_MS);
  utimesSync(join(directory, LOCK), old, old);
  expect(await underLock({ directory, waitMs: 300 }, inside)).toEqual({
    kind: 'not_taken',
    code: 'locked',
    message: expect.stringContaining(`another process has had its lock, ${SHOWN}, for 300 ms`),
    retryAfterMs: expect.any(Number),
  });
  holder.release();
  expect(await holder.ended).toBe('held');
  expect(await underLock({ directory, waitMs: 0 }, inside)).toBe('inside');
});

test("C10 the lock file is its owner's, stays, and is the one of every spelling", async () => {
  const directory = tempDir();
  await underLock({ directory }, inside);
  const before = await stat(join(directory, LOCK));
  await underLock({ directory }, inside);
  const after = await stat(join(directory, LOCK));
  expect(after.mode & 0o777).toBe(0o600);
  expect([after.ino, after.size, await readdir(directory)]).toEqual([before.ino, 0, [LOCK]]);
  expect(lockName('STATE.json')).toBe(LOCK);
  expect(lockName('caf\u00e9')).toBe(lockName('cafe\u0301'));
});

test('C10 twenty at once in one process are let in one by one, and all of them', async () => {
  const directory = tempDir();
  let [now, most] = [0, 0];
  const one = () =>
    underLock({ directory }, async () => {
      now += 1;
      most = Math.max(most, now);
      await stat(directory);
      now -= 1;
      return 'inside' as const;
    });
  const ended = await Promise.all(Array.from({ length: 20 }, one));
  expect(ended).toEqual(Array.from({ length: 20 }, () => 'inside'));
  expect(most).toBe(1);
});

test('a body that throws gives the lock back, and its error is the caller\u2019s', async () => {
  const directory = tempDir();
  const failing = underLock({ directory }, () => Promise.reject(new Error('after the effect')));
  await expect(failing).rejects.toThrow('after the effect');
  expect(await underLock({ directory, waitMs: 0 }, inside)).toBe('inside');
});

test('what goes wrong while it is given back is no matter of what was done under it', async () => {
  const fails = async () => {
    throw new Error('EIO');
  };
  const files: FileSystem = {
    ...nodeFiles,
    unlock: () => {
      throw new Error('EIO');
    },
    close: (file) => nodeFiles.close(file).then(fails),
  };
  expect(await underLock({ directory: tempDir(), files }, inside)).toBe('inside');
});

test('canceled while it waits: an outcome, and nothing was done', async () => {
  const directory = tempDir();
  const holder = await held({ directory });
  const canceling = new AbortController();
  let tries = 0;
  const files: FileSystem = {
    ...nodeFiles,
    tryLock: (file) => {
      tries += 1;
      if (tries === 3) canceling.abort();
      return nodeFiles.tryLock(file);
    },
  };
  const waiter = await underLock({ directory, files, signal: canceling.signal }, inside);
  expect(waiter).toMatchObject({ kind: 'not_taken', code: 'canceled' });
  holder.release();
  await holder.ended;
});

test.each([
  ['a link to a file outside', (path: string, to: string) => symlinkSync(to, path), 'lock_file'],
  ['a link to nothing', (path: string, to: string) => symlinkSync(`${to}-none`, path), 'lock_file'],
  ['a directory', (path: string) => mkdirSync(path), 'EISDIR'],
])('C10 %s at the name of the lock is not followed and not locked', async (_case, plant, code) => {
  const [directory, outside] = [tempDir(), tempDir()];
  writeFileSync(join(outside, 'file'), 'theirs');
  plant(join(directory, LOCK), join(outside, 'file'));
  const refused = await underLock({ directory }, inside);
  expect(refused).toMatchObject({ kind: 'refused', code, message: expect.stringContaining(SHOWN) });
  expect(await readdir(outside)).toEqual(['file']);
});

test('C10 a device at the name of the lock is no lock', async () => {
  const files: FileSystem = {
    ...nodeFiles,
    openOrCreate: () => nodeFiles.openToWrite('/dev/null'),
  };
  const refused = await underLock({ directory: tempDir(), files }, inside);
  expect(refused).toMatchObject({ kind: 'refused', code: 'lock_file' });
});

test.each(['EACCES', 'EROFS', 'ENOSPC'])(
  '%s: a lock file that cannot be made is an outcome that names it, and the target first',
  async (code) => {
    const files: FileSystem = {
      ...nodeFiles,
      openOrCreate: () => Promise.reject(Object.assign(new Error(code), { code })),
    };
    const unwritten = await underLock({ directory: tempDir(), files }, inside);
    const kind = code === 'ENOSPC' ? 'not_taken' : 'refused';
    const named = expect.stringMatching(`^"work/[^"]+" was not touched: its lock "${SHOWN}" `);
    expect(unwritten).toMatchObject({ kind, code, message: named });
  },
);

test('a file system without locks is an outcome that names the lock file', async () => {
  const files: FileSystem = {
    ...nodeFiles,
    tryLock: () => {
      throw Object.assign(new Error('ENOLCK: no locks available'), { code: 'ENOLCK' });
    },
  };
  const unwritten = await underLock({ directory: tempDir(), files }, inside);
  expect(unwritten).toMatchObject({ code: 'ENOLCK', message: expect.stringContaining(SHOWN) });
});

test.each([
  ['has lost its name', (path: string) => rename(path, `${path}.old`)],
  [
    'is another one under its name',
    async (path: string) => {
      await rename(path, `${path}.old`);
      writeFileSync(path, '');
    },
  ],
])('C10 a lock on a file that %s does not count', async (_case, spoil) => {
  const directory = tempDir();
  let spoilt = false;
  const files: FileSystem = {
    ...nodeFiles,
    statusAt: async (path) => {
      if (!spoilt) await spoil(path);
      spoilt = true;
      return nodeFiles.statusAt(path);
    },
  };
  let other: unknown;
  const outcome = await underLock({ directory, files }, async () => {
    other = await underLock({ directory, waitMs: 0 }, inside);
    return 'inside';
  });
  expect(outcome).toBe('inside');
  expect(other).toMatchObject({ code: 'locked' });
});
