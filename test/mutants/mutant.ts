// A mutant: one guard of the product taken out of a copy of the tree, and the test that has to go
// red without it. Pure: texts and reports in, verdicts out.

export interface Patch {
  /** Unique; for `--only`. */
  readonly name: string;
  /** Text that stands in one place of the file, and what is put there instead. */
  readonly from: string;
  readonly to: string;
  /** Title of the test that goes red. */
  readonly red: string;
  /** Where they are others than the guard's. */
  readonly file?: string;
  readonly test?: string;
  /** Words of its failure, where a second guard throws before anything can be asserted. */
  readonly says?: string;
}

export interface Guard {
  readonly guard: string;
  readonly file: string;
  readonly test: string;
  readonly patches: readonly Patch[];
}

export interface Mutant extends Patch {
  readonly guard: string;
  readonly file: string;
  readonly test: string;
}

export function mutantsOf(guards: readonly Guard[]): readonly Mutant[] {
  return guards.flatMap(({ guard, file, test, patches }) =>
    patches.map((patch) => ({ guard, file, test, ...patch })),
  );
}

export type Patched =
  | { readonly kind: 'patched'; readonly text: string }
  | { readonly kind: 'stale'; readonly why: string };

export function patched(text: string, { from, to }: Pick<Patch, 'from' | 'to'>): Patched {
  const pieces = text.split(from);
  const [before, after] = pieces;
  if (from === to) return { kind: 'stale', why: 'the patch changes nothing' };
  if (before === undefined || after === undefined || pieces.length > 2)
    return { kind: 'stale', why: `its text stands in ${pieces.length - 1} places, not in one` };
  return { kind: 'patched', text: `${before}${to}${after}` };
}

/** One test as the runner reports it. */
export interface RanTest {
  /** Path from the root of the tree. */
  readonly file: string;
  readonly title: string;
  readonly passed: boolean;
  /** Name and words of each error: `AssertionError: expected …`. */
  readonly failures: readonly string[];
}

export interface Report {
  readonly tests: readonly RanTest[];
  /** Why the report is not whole: no report, no end, a file that did not load; else null. */
  readonly problem: string | null;
}

export type Verdict = 'caught' | 'SURVIVED' | 'stale' | 'not green' | 'not run' | 'other failure';

export interface Judged {
  readonly verdict: Verdict;
  readonly why: string;
}

/** Of the unpatched tree: null when the test ran and passed. */
export function notGreen(mutant: Mutant, report: Report): Judged | null {
  const ran = namedIn(mutant, report);
  if (ran.length === 0) return notRun(report);
  const red = ran.find(({ passed }) => !passed);
  if (red === undefined) return null;
  return { verdict: 'not green', why: `it fails without the patch: ${wordsOf(red)}` };
}

/** Of the patched tree. Only a failed assertion counts, or the words that the row expects. */
export function judged(mutant: Mutant, report: Report): Judged {
  const ran = namedIn(mutant, report);
  if (ran.length === 0) return notRun(report);
  const red = ran.find(({ passed }) => !passed);
  if (red === undefined) return { verdict: 'SURVIVED', why: 'the test passes without the guard' };
  const { says } = mutant;
  const expected = ({ failures }: RanTest) =>
    failures.some((words) =>
      says === undefined ? words.startsWith('AssertionError') : words.includes(says),
    );
  return { verdict: expected(red) ? 'caught' : 'other failure', why: wordsOf(red) };
}

function namedIn({ test, red }: Mutant, { tests }: Report): readonly RanTest[] {
  return tests.filter(({ file, title }) => file === test && bareTitle(title) === bareTitle(red));
}

/** Without the ids that it covers: a test that comes to cover more stays the same test. */
export function bareTitle(title: string): string {
  return title.replace(/^((R|K|INV)-\d+ |[A-E]\d{1,2} )+/, '');
}

function notRun({ problem }: Report): Judged {
  return { verdict: 'not run', why: problem ?? 'no test of that title in the file' };
}

function wordsOf({ failures }: RanTest): string {
  return (failures[0] ?? 'no words').split('\n', 1)[0] ?? '';
}

/** Whether a title of the syntax tree, with "…" for what only run time knows, may be `title`. */
export function mayBecome(pattern: string, title: string, texts: readonly string[]): boolean {
  const literal = bareTitle(pattern)
    .split(/…|%[sdifjoOc]|\$\w+/)
    .map(escaped);
  const found = new RegExp(`^${literal.join('(.*)')}$`, 's').exec(bareTitle(title));
  if (found === null) return false;
  const words = found.slice(1).flatMap((value) => value.match(/[\p{L}\d_]+/gu) ?? []);
  // What fills the places stands in one of the texts, if not in one piece.
  return words.length === 0 || texts.some((text) => words.every((word) => text.includes(word)));
}

/** As a part of a regular expression. */
export function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
