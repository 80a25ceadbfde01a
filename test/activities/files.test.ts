import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFileTool, writeFileTool } from '../../activities/index.ts';
import type { Attempt, Inquiry } from '../../activities/tool.ts';
import { NotSentError } from '../../activities/tool.ts';
import { tempDir } from '../support/temp-dir.ts';

const attempt = (beforeSend: () => void = () => undefined) => ({ beforeSend }) as Attempt;
const asked = (input: object) => ({ input }) as Inquiry;
const odd = 'a "quoted" line\u2028still it\r\nnext, no end';

describe('read_file', () => {
  test('R-072 the text comes back as it stands, separators and all', async () => {
    const root = tempDir();
    await writeFile(join(root, 'mail.txt'), odd);
    const settled = await readFileTool({ root }).execute({ path: 'mail.txt' }, attempt());
    expect(settled).toMatchObject({ kind: 'executed', result: { path: 'mail.txt', text: odd } });
  });

  test.each([
    ['a file that is not there', 'none.txt', 'ENOENT'],
    ['a way out by dots', '../other.txt', 'unreadable'],
    ['a way out by an absolute path', '/etc/hostname', 'unreadable'],
    ['a way out by a link', 'link/hostname', 'unreadable'],
    ['a directory', 'folder', 'unreadable'],
    ['bytes that are not UTF-8', 'bytes.bin', 'ERR_ENCODING_INVALID_ENCODED_DATA'],
    ['a file that is too large', 'large.txt', 'unreadable'],
  ])('%s is refused', async (_name, path, code) => {
    const root = tempDir();
    await symlink('/etc', join(root, 'link'));
    await mkdir(join(root, 'folder'));
    await writeFile(join(root, 'bytes.bin'), Buffer.from([0xff, 0xfe]));
    await writeFile(join(root, 'large.txt'), 'x'.repeat(101));
    const settled = await readFileTool({ root, bytesMax: 100 }).execute({ path }, attempt());
    expect(settled).toMatchObject({ kind: 'refused', code });
  });
});

describe('write_file', () => {
  const input = { path: 'summary.txt', content: odd };

  test('R-125 the file is there whole, and nothing beside it', async () => {
    const root = tempDir();
    const settled = await writeFileTool({ root }).execute(input, attempt());
    expect(settled).toMatchObject({ kind: 'executed', externalId: 'summary.txt' });
    expect(await readFile(join(root, 'summary.txt'), 'utf8')).toBe(odd);
    expect(await readdir(root)).toEqual(['summary.txt']);
  });

  test('R-126 a file that exists is left as it is', async () => {
    const root = tempDir();
    await writeFile(join(root, 'summary.txt'), 'before');
    const settled = await writeFileTool({ root }).execute(input, attempt());
    expect(settled).toMatchObject({ kind: 'refused', code: 'EEXIST' });
    expect(await readFile(join(root, 'summary.txt'), 'utf8')).toBe('before');
    expect(await readdir(root)).toEqual(['summary.txt']);
  });

  test('the send window is checked before the name appears', async () => {
    const root = tempDir();
    const late = attempt(() => {
      throw new NotSentError('too late');
    });
    await expect(writeFileTool({ root }).execute(input, late)).rejects.toThrow(NotSentError);
    expect(await readdir(root)).toEqual([]);
  });

  test('a directory that is not there: not taken, nothing written', async () => {
    const root = tempDir();
    const settled = await writeFileTool({ root }).execute(
      { path: 'none/summary.txt', content: '' },
      attempt(),
    );
    expect(settled).toMatchObject({ kind: 'not_taken', code: 'ENOENT' });
  });

  test('R-082 R-127 a look tells by content, and never gives back a result', async () => {
    const root = tempDir();
    const { inquire } = writeFileTool({ root });
    expect(await inquire?.(asked(input))).toMatchObject({ verdict: 'no_record' });
    await writeFile(join(root, 'summary.txt'), odd);
    const found = await inquire?.(asked(input));
    expect(found).toMatchObject({ verdict: 'executed', objectVersion: expect.any(String) });
    expect(found).not.toHaveProperty('result');
    await writeFile(join(root, 'summary.txt'), 'other');
    expect(await inquire?.(asked(input))).toMatchObject({ verdict: 'conflict' });
  });
});
