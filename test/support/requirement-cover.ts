// Which requirement is named by which test. Ids count only where a live test's title holds them;
// a range such as "R-001..R-004" names its two ends and nothing between.

import type { TestTitle } from './test-titles.ts';

export interface Requirement {
  readonly id: string;
  readonly sentence: string;
}

export interface Cover extends Requirement {
  /** Files with a live test that names it, sorted, without repeats. */
  readonly files: readonly string[];
}

export interface CoverReport {
  readonly requirements: readonly Cover[];
  /** Rules (A1 …) and cases (K-001 …) that titles name, with the count of titles. */
  readonly others: Readonly<Record<string, number>>;
  /** R-ids in titles that docs/requirements.md does not list, as `id in file`. */
  readonly strangers: readonly string[];
}

export interface TitledFile {
  readonly path: string;
  readonly titles: readonly TestTitle[];
}

const ID = /\b(?:[RK]-\d{3}|[A-E][1-9]\d?)(?!\w)/g;

export function idsIn(title: string): string[] {
  return [...new Set(title.match(ID) ?? [])];
}

/** Rows `| R-001 | sentence |` of docs/requirements.md. */
export function requirementsIn(markdown: string): Requirement[] {
  return [...markdown.matchAll(/^\| (R-\d{3}) \| (.+) \|$/gm)].map((match) => ({
    id: match[1] ?? '',
    sentence: match[2] ?? '',
  }));
}

export function coverReport(
  requirements: readonly Requirement[],
  files: readonly TitledFile[],
): CoverReport {
  const named = files.flatMap(({ path, titles }) =>
    titles
      .filter(({ skipped }) => !skipped)
      .flatMap(({ title }) => idsIn(title).map((id) => ({ id, path }))),
  );
  const known = new Set(requirements.map(({ id }) => id));
  const others: Record<string, number> = {};
  for (const { id } of named) if (!id.startsWith('R-')) others[id] = (others[id] ?? 0) + 1;
  return {
    requirements: requirements.map((one) => ({
      ...one,
      files: unique(named.filter(({ id }) => id === one.id).map(({ path }) => path)),
    })),
    others,
    strangers: unique(
      named
        .filter(({ id }) => id.startsWith('R-') && !known.has(id))
        .map(({ id, path }) => `${id} in ${path}`),
    ),
  };
}

/** Text of the report; `missing` leaves out what has a test. */
export function coverText(report: CoverReport, view: 'all' | 'missing'): string {
  const { requirements, others, strangers } = report;
  const without = requirements.filter(({ files }) => files.length === 0);
  const shown = view === 'missing' ? without : requirements;
  const lines = shown.map(({ id, sentence, files }) =>
    files.length === 0 ? `${id}  -  ${sentence}` : `${id}  ${files.join(', ')}`,
  );
  const count = requirements.length;
  return [
    ...lines,
    ...strangers.map((stranger) => `not in docs/requirements.md: ${stranger}`),
    `${count} requirements: ${count - without.length} named by a test, ${without.length} not; ` +
      `${Object.keys(others).length} rules and cases named besides`,
  ].join('\n');
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}
