// Would catch: text that comes back changed, a digest over something else than the bytes, a read
// outside of the root or of what is no file.

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFileTool } from '../../../activities/index.ts';
import { nodeFiles } from '../../../activities/tools/files/system.ts';
import { digestOfBytes } from '../../../core/digest.ts';
import { says } from '../../support/file-writes.ts';
import { looseAttempt } from '../../support/loose-attempt.ts';
import { tempDir } from '../../support/temp-dir.ts';

test.each([
  ['separators and all', 'a "quoted" line\u2028still it\r\nnext\rlast, no end'],
  ['the mark of its encoding', '\ufeffwith a mark\r\n'],
  ['more than one chunk of it', 'é'.repeat(70_000)],
  ['nothing', ''],
])(
  'R-072 the text comes back as it stands, and its digest is of the bytes: %s',
  async (_, text) => {
    const root = tempDir();
    await writeFile(join(root, 'mail.txt'), text);
    const settled = await readFileTool({ root }).execute({ path: 'mail.txt' }, looseAttempt());
    const digest = digestOfBytes(Buffer.from(text));
    expect(settled).toEqual({
      kind: 'executed',
      externalId: 'mail.txt',
      objectVersion: digest,
      result: { path: 'mail.txt', text, digest },
    });
  },
);

test.each([
  ['a file that is not there', 'none.txt', 'ENOENT'],
  ['a way out by dots', '../other.txt', 'outside_root'],
  ['a way out by an absolute path', '/etc/hostname', 'outside_root'],
  ['a way out by a link', 'link/hostname', 'outside_root'],
  ['a directory', 'folder', 'directory'],
  ['bytes that are not UTF-8', 'bytes.bin', 'not_utf8'],
  ['a file that is too large', 'large.txt', 'too_large'],
])('%s is refused, by its name', async (_name, path, code) => {
  const root = tempDir();
  await symlink('/etc', join(root, 'link'));
  await mkdir(join(root, 'folder'));
  await writeFile(join(root, 'bytes.bin'), Buffer.from([0xff, 0xfe]));
  await writeFile(join(root, 'large.txt'), 'x'.repeat(101));
  const settled = await readFileTool({ root, bytesMax: 100 }).execute({ path }, looseAttempt());
  expect(settled).toMatchObject({ kind: 'refused', code });
  expect(settled).toHaveProperty('message', expect.stringContaining(`"${path}"`));
});

test('a machine that is short of something: not taken, to be tried again', async () => {
  const root = tempDir();
  await writeFile(join(root, 'a.txt'), '');
  const files = { ...nodeFiles, openToRead: says('EMFILE') };
  const settled = await readFileTool({ root, files }).execute({ path: 'a.txt' }, looseAttempt());
  expect(settled).toMatchObject({ kind: 'not_taken', code: 'EMFILE', retryAfterMs: 1_000 });
});
