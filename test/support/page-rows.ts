// A page of the docs that has one row for each case or rule: `| id | sentence | test, or reason |`.

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { projectFiles, projectRoot } from './project-files.ts';
import { idsIn } from './requirement-cover.ts';
import { testTitles } from './test-titles.ts';

export interface PageRow {
  readonly id: string;
  /** Test files that it names. */
  readonly files: readonly string[];
  /** What stands there beside the files. */
  readonly reason: string;
  readonly played: boolean;
}

/** Rows whose id fits `id`, in the order of the page. */
export function pageRows(page: string, id: RegExp): readonly PageRow[] {
  const text = readFileSync(join(projectRoot, page), 'utf8');
  const row = new RegExp(`^\\| (${id.source}) \\| (.+?) \\| (.+) \\|$`, 'gm');
  return [...text.matchAll(row)].map(([, found = '', , where = '']) => ({
    id: found,
    files: [...where.matchAll(/`(test\/[\w./-]+\.test(?:suite)?\.ts)`/g)].map(
      ([, path = '']) => path,
    ),
    reason: where.replace(/`[^`]+`[,;:]? ?/g, ''),
    played: where.startsWith('`'),
  }));
}

/** A row names live tests with its id in the title, or says why there are none. */
export function rowProblems(rows: readonly PageRow[]): string[] {
  return rows.flatMap(({ id, files, reason, played }) => {
    if (!played) return reason.length > 20 ? [] : [`${id}: neither a test nor a reason`];
    return files.filter((path) => !isNamed(id, path)).map((path) => `${id}: not in ${path}`);
  });
}

const idsByFile = new Map<string, ReadonlySet<string>>();

function isNamed(id: string, path: string): boolean {
  const ids = idsByFile.get(path) ?? idsOf(path);
  idsByFile.set(path, ids);
  return ids.has(id);
}

/** In the titles of its live tests; a suite lives in the test file that plays it. */
function idsOf(path: string): ReadonlySet<string> {
  const files = projectFiles();
  const file = files.find((each) => each.path === path);
  const isPlayed =
    !path.endsWith('.testsuite.ts') ||
    files.some(({ path: other, text }) => other.endsWith('.test.ts') && imports(text, path));
  const titles = file === undefined || !isPlayed ? [] : testTitles(path, file.text);
  return new Set(titles.flatMap(({ title, skipped }) => (skipped ? [] : idsIn(title))));
}

function imports(text: string, path: string): boolean {
  return text.includes(`from './${basename(path)}'`);
}
