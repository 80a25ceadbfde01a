// Would catch: a file outside of the root that is read, created or replaced: by the text of a path,
// by a link, or by a directory that becomes a link while the tool is at work.

import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFileTool } from '../../../activities/index.ts';
import { type FileSystem, nodeFiles } from '../../../activities/tools/files/system.ts';
import { created, namesIn, replaced, textOf, tracedFiles } from '../../support/file-writes.ts';
import { looseAttempt } from '../../support/loose-attempt.ts';
import { tempDir } from '../../support/temp-dir.ts';

/** A root beside a directory that nothing may touch. */
function jail() {
  const above = tempDir();
  const [root, outside] = [join(above, 'root'), join(above, 'outside')];
  for (const directory of [root, outside, join(root, 'inner')]) mkdirSync(directory);
  writeFileSync(join(outside, 'a'), 'v7');
  symlinkSync('../outside', join(root, 'out'));
  symlinkSync('inner', join(root, 'in'));
  return { root, outside };
}

test.each([
  ['../outside/a', 'outside_root'],
  ['inner/../../outside/a', 'outside_root'],
  ['inner/../b', 'outside_root'],
  ['..', 'outside_root'],
  ['/etc/hostname', 'outside_root'],
  ['out/a', 'outside_root'],
  ['out/../outside/a', 'outside_root'],
  ['', 'no_file_name'],
  ['.', 'no_file_name'],
  ['./', 'no_file_name'],
  ['inner/', 'no_file_name'],
  ['b/', 'no_file_name'],
  ['inner/.', 'no_file_name'],
  ['a\0b', 'invalid_path'],
  ['inner\0/b', 'invalid_path'],
  ['\ud83d', 'invalid_path'],
  ['.holdfast-x.lock', 'reserved_name'],
  ['inner/.Holdfast-x.draft', 'reserved_name'],
  ['none/b', 'ENOENT'],
  ['out/none/b', 'ENOENT'],
])('the path %j is refused by all three tools: %s', async (path, code) => {
  const { root, outside } = jail();
  const { calls, files } = tracedFiles();
  const ask = { root, path, content: 'v8', files };
  const read = readFileTool({ root, files }).execute({ path }, looseAttempt());
  for (const settled of [await created(ask), await replaced({ ...ask, was: 'v7' }), await read])
    expect(settled).toMatchObject({ kind: 'refused', code });
  const wrote = calls.filter((call) => /^(createNew|openOrCreate|link|swap|rename)/.test(call));
  expect(wrote).toEqual([]);
  expect([namesIn(outside), textOf(join(outside, 'a'))]).toEqual([['a'], 'v7']);
});

test.each(['way/b', 'link'])(
  'C8 through a name that is no UTF-8 nothing is written: %s',
  async (path) => {
    const { root } = jail();
    const odd = Buffer.from([...Buffer.from(`${root}/`), 0x66, 0xff]);
    mkdirSync(odd);
    symlinkSync(odd.subarray(root.length + 1), join(root, 'way'));
    symlinkSync(
      Buffer.concat([odd.subarray(root.length + 1), Buffer.from('/b')]),
      join(root, 'link'),
    );
    writeFileSync(Buffer.concat([odd, Buffer.from('/b')]), 'v7');
    const settled = await replaced({ root, path, was: 'v7', content: 'v8' });
    expect(settled).toMatchObject({ kind: 'refused', code: 'EILSEQ' });
  },
);

test('a link to a directory inside the root is followed, and told where it leads', async () => {
  const { root } = jail();
  const settled = await created({ root, path: 'in/b', content: 'ours' });
  expect(settled).toMatchObject({ kind: 'executed', externalId: 'inner/b' });
  expect(textOf(join(root, 'inner/b'))).toBe('ours');
});

test('a root that is a link is a root', async () => {
  const { root } = jail();
  const link = `${root}-link`;
  symlinkSync(root, link);
  expect(await created({ root: link, path: 'b', content: '' })).toMatchObject({
    kind: 'executed',
    externalId: 'b',
  });
});

test('a link behind which a `..` leads out of the root is refused', async () => {
  const { root, outside } = jail();
  mkdirSync(join(outside, 'deep'));
  symlinkSync('../../outside/deep', join(root, 'inner/deep'));
  // By its text it ends inside; by what it passes, at `outside/a`.
  symlinkSync('inner/deep/../a', join(root, 'sly'));
  const settled = await replaced({ root, path: 'sly', content: 'v8', was: 'v7' });
  expect(settled).toMatchObject({ kind: 'refused', code: 'outside_root' });
  expect(textOf(join(outside, 'a'))).toBe('v7');
});

const moments = ['fileSystemAt', 'openOrCreate', 'statusAt', 'createNew', 'syncFile'];
const tools = [
  ['create', [...moments, 'link'], created],
  [
    'replace',
    [...moments, 'openToRead', 'swap'],
    (ask: Parameters<typeof created>[0]) => replaced({ ...ask, was: 'v7' }),
  ],
] as const;
test.each(tools.flatMap(([name, at, tool]) => at.map((moment) => [name, moment, tool] as const)))(
  '%s: the directory becomes a link out of the root at %s: nothing comes out there',
  async (name, moment, tool) => {
    const { root, outside } = jail();
    if (name === 'replace') writeFileSync(join(root, 'inner/a'), 'v7');
    let isSwapped = false;
    const files = {
      [moment]: (...args: unknown[]) => {
        if (!isSwapped) {
          isSwapped = true;
          renameSync(join(root, 'inner'), join(root, 'moved'));
          symlinkSync('../outside', join(root, 'inner'));
        }
        return (nodeFiles[moment as keyof FileSystem] as (...all: unknown[]) => unknown)(...args);
      },
    };
    await tool({ root, path: 'inner/a', content: 'v8', files });
    expect([namesIn(outside), textOf(join(outside, 'a'))]).toEqual([['a'], 'v7']);
    expect(textOf(join(root, 'moved/a'))).toBe('v8');
  },
);
