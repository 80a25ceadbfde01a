// Would catch: another's change that is lost, a digest that is not of the bytes, a conflict that
// looks as if it could be tried again.

import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFileTool, replaceFileTool } from '../../../activities/index.ts';
import { NotSentError } from '../../../activities/tool.ts';
import { type FileSystem, nodeFiles } from '../../../activities/tools/files/system.ts';
import { digestOfBytes } from '../../../core/digest.ts';
import { digestOfText, namesIn, replaced, says, textOf } from '../../support/file-writes.ts';
import { looseAttempt } from '../../support/loose-attempt.ts';
import { tempDir } from '../../support/temp-dir.ts';

/** A root with one file. */
function rootWith(content: string | Uint8Array, name = 'a.txt'): string {
  const root = tempDir();
  writeFileSync(join(root, name), content);
  return root;
}

test('R-125 C5 what has the content that was read is replaced, nothing beside it', async () => {
  const root = rootWith('v7');
  const settled = await replaced({ root, path: 'a.txt', content: 'v8', was: 'v7' });
  expect(settled).toEqual({
    kind: 'executed',
    result: { path: 'a.txt', bytes: 2, digest: digestOfText('v8') },
    externalId: 'a.txt',
    objectVersion: digestOfText('v8'),
  });
  expect(textOf(join(root, 'a.txt'))).toBe('v8');
  expect(namesIn(root)).toEqual(['a.txt']);
});

test('R-126 R-128 K-104 A read v7, B writes v9: A gets a conflict, and v9 stays', async () => {
  const root = rootWith('v7');
  const path = join(root, 'a.txt');
  writeFileSync(path, 'v9');
  const settled = await replaced({ root, path: 'a.txt', content: 'v8', was: 'v7' });
  expect(settled).toMatchObject({ kind: 'refused', code: 'conflict' });
  for (const words of ['"a.txt"', digestOfText('v7'), digestOfText('v9'), 'Read it again, merge'])
    expect(settled).toHaveProperty('message', expect.stringContaining(words));
  expect(textOf(path)).toBe('v9');
  expect(namesIn(root)).toEqual(['a.txt']);
});

test('R-126 C5 B writes v9 once A has looked, by an editor without a lock: v9 stays', async () => {
  const root = rootWith('v7');
  const path = join(root, 'a.txt');
  const prepare = async () => writeFileSync(path, 'v9');
  const ask = { root, path: 'a.txt', content: 'v8', was: 'v7', attempt: { prepare } };
  expect(await replaced(ask)).toMatchObject({ kind: 'refused', code: 'conflict' });
  expect(textOf(path)).toBe('v9');
  expect(namesIn(root)).toEqual(['a.txt']);
  // The control: compare, then rename, with nothing between that would see it.
  writeFileSync(path, 'v7');
  expect(textOf(path)).toBe('v7');
  writeFileSync(`${path}~`, 'v8');
  await prepare();
  await nodeFiles.rename(`${path}~`, path);
  expect(textOf(path)).toBe('v8');
});

/** A has looked for the last time, and B writes v9 by the same tool before A publishes. */
async function met(machine: Partial<FileSystem>) {
  const root = rootWith('v7');
  const write = { root, path: 'a.txt', was: 'v7', withoutLock: true, lockWaitMs: 0 } as const;
  const saidOfB: string[] = [];
  const publish =
    (call: FileSystem['swap']): FileSystem['swap'] =>
    async (draft, target) => {
      const b = await replaced({ ...write, content: 'v9', files: machine });
      saidOfB.push(b.kind);
      return call(draft, target);
    };
  const files = { ...machine, swap: publish(nodeFiles.swap), rename: publish(nodeFiles.rename) };
  const { kind: saidOfA } = await replaced({ ...write, content: 'v8', files });
  return { saidOfA, saidOfB, found: textOf(join(root, 'a.txt')) };
}

test('R-126 B writes v9 once A has looked for the last time: B gets no lock', async () => {
  expect(await met({})).toEqual({ saidOfA: 'executed', saidOfB: ['not_taken'], found: 'v8' });
});

test('R-126 K-104 the control: without the lock both are told executed; v9 is lost', async () => {
  const machine = { addonMissing: () => 'not installed' };
  expect(await met(machine)).toEqual({
    ...{ saidOfA: 'executed', saidOfB: ['executed'] },
    found: 'v8',
  });
});

test('C5 no time and no size tells a change: the same length, the times put back', async () => {
  const root = rootWith('v7');
  const path = join(root, 'a.txt');
  const { atime, mtime } = statSync(path);
  writeFileSync(path, 'v9');
  utimesSync(path, atime, mtime);
  const settled = await replaced({ root, path: 'a.txt', content: 'v8', was: 'v7' });
  expect(settled).toMatchObject({ kind: 'refused', code: 'conflict' });
});

test('R-128 after a merge the new digest is taken; another change is a conflict', async () => {
  const root = rootWith('v9');
  expect(await replaced({ root, path: 'a.txt', content: 'v9+8', was: 'v9' })).toMatchObject({
    kind: 'executed',
  });
  expect(await replaced({ root, path: 'a.txt', content: 'late', was: 'v9' })).toMatchObject({
    kind: 'refused',
    code: 'conflict',
  });
});

test.each([
  ['as it was expected', 'same'],
  ['by another hand', 'else'],
])('C6 R-082 the new content is there already, %s: no effect of ours', async (_, was) => {
  const root = rootWith('same');
  const { ino } = statSync(join(root, 'a.txt'));
  const settled = await replaced({ root, path: 'a.txt', content: 'same', was });
  expect(settled).toMatchObject({ kind: 'refused', code: 'already_satisfied' });
  expect(settled).not.toHaveProperty('result');
  expect(statSync(join(root, 'a.txt')).ino).toBe(ino);
});

test.each([
  ['CRLF', 'a\r\nb\r\n'],
  ['mixed line endings', 'a\r\nb\nc\rd'],
  ['the mark of its encoding', '\ufeffa\n'],
  ['no last line ending', 'a\nb'],
  ['decomposed letters', 'cafe\u0301 caf\u00e9'],
])('C5 %s: read, written back with a change, kept byte for byte', async (_, text) => {
  const root = rootWith(text);
  const read = await readFileTool({ root }).execute({ path: 'a.txt' }, looseAttempt());
  if (read.kind !== 'executed') throw new Error(read.kind);
  const { text: got, digest } = read.result;
  const tool = replaceFileTool({ root });
  const content = `${got}\u2028`;
  const settled = await tool.execute({ path: 'a.txt', content, expect: digest }, looseAttempt());
  const bytes = readFileSync(join(root, 'a.txt'));
  expect(bytes).toEqual(Buffer.from(`${text}\u2028`));
  expect(settled).toMatchObject({ kind: 'executed', objectVersion: digestOfBytes(bytes) });
});

test('the digest is over raw bytes, also of a file that is no text', async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x0d]);
  const root = rootWith(bytes);
  const expected = { path: 'a.txt', content: 'text', expect: digestOfBytes(bytes) };
  const settled = await replaceFileTool({ root }).execute(expected, looseAttempt());
  expect(settled).toMatchObject({ kind: 'executed' });
});

test('a file that is not there is not created', async () => {
  const root = tempDir();
  const settled = await replaced({ root, path: 'a.txt', content: 'v8', was: 'v7' });
  expect(settled).toMatchObject({ kind: 'refused', code: 'ENOENT' });
  expect(namesIn(root)).toEqual([]);
});

test('K-115 the other spelling of a file that is there: refused, that one told', async () => {
  const root = rootWith('v7', 'caf\u00e9');
  const settled = await replaced({ root, path: 'cafe\u0301', content: 'v8', was: 'v7' });
  expect(settled).toMatchObject({ kind: 'refused', code: 'other_spelling' });
  expect(settled).toHaveProperty('message', expect.stringContaining('(caf\\u00e9)'));
  expect(namesIn(root)).toEqual(['caf\u00e9']);
});

test.each(['', 'v7', 'sha256:', `sha256:${'0'.repeat(63)}`, `SHA256:${'0'.repeat(64)}`])(
  'what is no digest does not come to the file: %j',
  (expected) => {
    const { input } = replaceFileTool({ root: tempDir() });
    const asked = { path: 'a.txt', content: 'v8', expect: expected };
    expect(input.safeParse(asked).success).toBe(false);
  },
);

test('the model is told what the digest is, and what to do about a conflict', () => {
  const { description } = replaceFileTool({ root: tempDir() });
  expect(description).toContain('`expect` is the digest that read_file gave');
  expect(description).toContain('read it again, merge');
});

test('the send window is checked before the exchange', async () => {
  const root = rootWith('v7');
  const beforeSend = () => {
    throw new NotSentError('too late');
  };
  const late = replaced({
    ...{ root, path: 'a.txt', content: 'v8', was: 'v7' },
    attempt: { beforeSend },
  });
  await expect(late).rejects.toThrow('too late');
  expect(textOf(join(root, 'a.txt'))).toBe('v7');
});

test('R-127 the marks tell the old content and the new one, and how it is published', async () => {
  const root = rootWith('v7');
  const seen: object[] = [];
  const prepare = async (marks: object) => {
    seen.push(marks);
  };
  const ask = { root, path: 'a.txt', attempt: { prepare } };
  await replaced({ ...ask, content: 'v8', was: 'v7' });
  const files = { addonMissing: () => 'not installed' };
  await replaced({ ...ask, content: 'v9', was: 'v8', files, withoutLock: true });
  expect(seen).toMatchObject([
    { target: 'a.txt', publish: 'swap', old: digestOfText('v7'), new: digestOfText('v8') },
    { target: 'a.txt', publish: 'rename', old: digestOfText('v8'), new: digestOfText('v9') },
  ]);
  expect(textOf(join(root, 'a.txt'))).toBe('v9');
});

test('a file system that knows no exchange gets a rename', async () => {
  const root = rootWith('v7');
  const files = { swap: says('EINVAL') };
  const settled = await replaced({ root, path: 'a.txt', content: 'v8', was: 'v7', files });
  expect(settled).toMatchObject({ kind: 'executed' });
  expect(textOf(join(root, 'a.txt'))).toBe('v8');
  expect(namesIn(root)).toEqual(['a.txt']);
});

test('C10 R-126 another writer has the lock: not taken, nothing is looked at', async () => {
  const root = rootWith('v7');
  const files = { tryLock: () => false };
  const ask = { root, path: 'a.txt', content: 'v8', was: 'v7', files, lockWaitMs: 0 };
  expect(await replaced(ask)).toMatchObject({ kind: 'not_taken', code: 'locked' });
  expect(textOf(join(root, 'a.txt'))).toBe('v7');
  expect(namesIn(root)).toEqual(['a.txt']);
});
