// How far the lock reaches: to those who take it. Would catch a change of somebody who takes none
// (a shell, an editor) lost under it, and a page that promises more, or leaves an outcome out.

import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Attempt } from '../../../activities/tool.ts';
import { replaceFileTool } from '../../../activities/tools/files/replace-file.ts';
import { type FileSystem, nodeFiles } from '../../../activities/tools/files/system.ts';
import { digestOfBytes } from '../../../core/digest.ts';
import { looseAttempt } from '../../support/loose-attempt.ts';
import { projectFiles, projectRoot } from '../../support/project-files.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { LOCK, TARGET } from './lock-holder.ts';

const OLD = 'version 7';
const OURS = 'version 8';
const THEIRS = 'version 9';

interface Played {
  readonly root: string;
  readonly now: () => string;
  /** As a shell does it, which takes no lock. */
  readonly writesOver: () => void;
  /** As an editor saves. */
  readonly renamesOver: () => void;
  replace(files: FileSystem, over?: Partial<Attempt>): Promise<unknown>;
}

function stage(): Played {
  const root = tempDir();
  const target = join(root, TARGET);
  writeFileSync(target, OLD);
  const expected = digestOfBytes(Buffer.from(OLD));
  return {
    root,
    now: () => readFileSync(target, 'utf8'),
    writesOver: () => writeFileSync(target, THEIRS),
    renamesOver: () => {
      writeFileSync(`${target}.swp`, THEIRS);
      renameSync(`${target}.swp`, target);
    },
    replace: (files, over) =>
      replaceFileTool({ root, files, withoutLock: true, network: 'allow' }).execute(
        { path: TARGET, content: OURS, expect: expected },
        looseAttempt(over),
      ),
  };
}

const ways = [
  ['writes over it', 'writesOver'],
  ['saves as an editor does', 'renamesOver'],
] as const;

test.each(ways)(
  'R-100 C16 who %s under our lock is found by comparing, and stays',
  async (_, way) => {
    const at = stage();
    const prepare = async () => at[way]();
    const settled = await at.replace(nodeFiles, { prepare });
    expect(settled).toMatchObject({ kind: 'refused', code: 'conflict' });
    expect(at.now()).toBe(THEIRS);
    expect(readdirSync(at.root).toSorted()).toEqual([LOCK, TARGET]);
  },
);

test.each(ways)('R-100 C16 who %s in the last instant is found by the exchange', async (_, way) => {
  const at = stage();
  let swaps = 0;
  const files: FileSystem = {
    ...nodeFiles,
    swap: (one, other) => {
      swaps += 1;
      if (swaps === 1) at[way]();
      return nodeFiles.swap(one, other);
    },
  };
  const settled = await at.replace(files);
  expect(settled).toMatchObject({ kind: 'refused', code: 'conflict' });
  expect(at.now()).toBe(THEIRS);
  expect(readdirSync(at.root).toSorted()).toEqual([LOCK, TARGET]);
});

test.each(ways)(
  'R-100 C16 the control: without the exchange who %s then is lost',
  async (_, way) => {
    const at = stage();
    const files: FileSystem = {
      ...nodeFiles,
      addonMissing: () => 'none',
      rename: (from, to) => {
        if (to.endsWith(TARGET)) at[way]();
        return nodeFiles.rename(from, to);
      },
    };
    expect(await at.replace(files)).toMatchObject({ kind: 'executed' });
    expect(at.now()).toBe(OURS);
  },
);

test('R-100 C16 C15 the page of the file tools says how far the lock reaches', () => {
  const page = readFileSync(join(projectRoot, 'docs/files.md'), 'utf8');
  const paragraphs = page.split('\n\n').map((each) => each.replaceAll('\n', ' '));
  const says = (...words: readonly string[]) =>
    paragraphs.some((each) => words.every((word) => each.includes(word)));
  expect(says('lock', 'shell', 'editor', 'do not take it')).toBe(true);
  expect(says('nothing that was sent', 'processes', 'still run')).toBe(true);
  for (const ground of ['NFS', 'overlay', 'FUSE']) expect(says(ground, 'level')).toBe(true);
});

test('each outcome that the file tools can give stands on their page', () => {
  const page = readFileSync(join(projectRoot, 'docs/files.md'), 'utf8');
  const codes = projectFiles()
    .filter(({ path }) => path.startsWith('activities/tools/files/'))
    .flatMap(({ text }) => [...text.matchAll(/(?:refusal\(\s*|code: )'(\w+)'/g)])
    .map(([, code = '']) => code);
  expect(codes.length).toBeGreaterThan(20);
  expect([...new Set(codes)].filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});
