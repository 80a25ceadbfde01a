// `npm run mutants [-- --only <name> …] [--list] [--json] [--lanes n]`: takes out each guard of
// the product in a copy of the tree, and looks whether the test that it names goes red. Prints a
// table; exit code 1 for anything that is not caught.

import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { guards } from './guards.ts';
import {
  type Judged,
  judged,
  type Mutant,
  mutantsOf,
  notGreen,
  patched,
  type Report,
} from './mutant.ts';
import { endRunners, isApart, type Runner, runApart, runnerIn } from './runner.ts';
import { copiedTree, type Tree } from './tree.ts';

/** Each is a process at a time; more than the machine has cores only makes tests wait. */
const LANES_MAX = 8;

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    lanes: { type: 'string', default: '2' },
  },
});

interface Row extends Judged {
  readonly mutant: Mutant;
}

const chosen = chosenOf(mutantsOf(guards), flags.only);
if (flags.list) process.stdout.write(chosen.map(lineOf).join(''));
else process.exitCode = (await tryAll(chosen)).every(({ verdict }) => verdict === 'caught') ? 0 : 1;

/** `--only` names a mutant, or a guard with all of its mutants. */
function chosenOf(all: readonly Mutant[], only: readonly string[]): readonly Mutant[] {
  const unknown = only.find((word) => !all.some((mutant) => isNamed(mutant, word)));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: no mutant or guard; see --list`);
  return only.length === 0 ? all : all.filter((each) => only.some((word) => isNamed(each, word)));
}

function isNamed({ name, guard }: Mutant, word: string): boolean {
  return name === word || guard === word;
}

async function tryAll(mutants: readonly Mutant[]): Promise<readonly Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-mutants-'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      endRunners();
      rmSync(directory, { recursive: true, force: true });
      process.exit(1);
    });
  try {
    const lanes = Math.min(lanesOf(flags.lanes), mutants.length);
    const trees = await Promise.all(
      Array.from({ length: lanes }, (_, lane) => copiedTree(join(directory, `lane-${lane}`))),
    );
    return await tryIn(trees, mutants);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function tryIn(trees: readonly Tree[], mutants: readonly Mutant[]): Promise<readonly Row[]> {
  const [first] = trees;
  if (first === undefined) throw new Error('there is nothing to try');
  say(`${mutants.length} mutants; their tests without a patch first\n`);
  const green = await runApart(first, mutants);
  const left = mutants.values();
  const rows = await Promise.all(trees.map((tree) => tryLeft({ tree, left, green })));
  tell(rows.flat());
  return rows.flat();
}

interface Lane {
  readonly tree: Tree;
  /** Shared: each mutant is taken by one lane. */
  readonly left: IterableIterator<Mutant>;
  readonly green: Report;
}

async function tryLeft({ tree, left, green }: Lane): Promise<readonly Row[]> {
  const runner = runnerIn(tree);
  const rows: Row[] = [];
  for (const mutant of left) {
    const row = {
      mutant,
      ...(notGreen(mutant, green) ?? (await tryOne({ tree, runner }, mutant))),
    };
    rows.push(row);
    say(rowText(row));
  }
  const again = await putBack(runner, rows);
  await runner.end();
  return again;
}

/** A patch that is still there would have caught whatever came after it. */
async function putBack(runner: Runner, rows: readonly Row[]): Promise<readonly Row[]> {
  const kept = rows.filter(({ mutant }) => !isApart(mutant.test));
  if (kept.length === 0) return rows;
  const green = await runner.run(kept.map(({ mutant }) => mutant));
  return rows.map((row) => {
    const problem = kept.includes(row) && row.verdict === 'caught' && notGreen(row.mutant, green);
    if (!problem) return row;
    const red = { ...row, ...problem, why: `with its file put back: ${problem.why}` };
    say(rowText(red));
    return red;
  });
}

interface Place {
  readonly tree: Tree;
  readonly runner: Runner;
}

async function tryOne({ tree, runner }: Place, mutant: Mutant): Promise<Judged> {
  const before = await tree.read(mutant.file);
  const patch = patched(before, mutant);
  if (patch.kind === 'stale') return { verdict: 'stale', why: patch.why };
  await tree.write(mutant.file, patch.text);
  try {
    const tried = [mutant];
    return judged(mutant, await (isApart(mutant.test) ? runApart(tree, tried) : runner.run(tried)));
  } finally {
    await tree.write(mutant.file, before);
  }
}

function tell(rows: readonly Row[]): void {
  const missed = rows.filter(({ verdict }) => verdict !== 'caught');
  const flat = rows.map(({ mutant, verdict, why }) => ({ ...mutant, verdict, why }));
  if (flags.json) process.stdout.write(`${JSON.stringify({ mutants: flat })}\n`);
  say(`${rows.length} mutants, ${missed.length} not caught\n`);
}

function rowText({ mutant, verdict, why }: Row): string {
  const { guard, name, test, red } = mutant;
  const row = [verdict.padEnd(13), guard.padEnd(24), name.padEnd(30), `${test}: ${red}`];
  return `${row.join('  ')}\n${verdict === 'caught' ? '' : `               ${why}\n`}`;
}

function lineOf(mutant: Mutant): string {
  const { guard, name, file, test, red } = mutant;
  return `${[guard.padEnd(24), name.padEnd(30), file, `${test}: ${red}`].join('  ')}\n`;
}

/** With --json the table goes beside the object. */
function say(text: string): void {
  (flags.json ? process.stderr : process.stdout).write(text);
}

function lanesOf(text: string): number {
  const lanes = Number(text);
  if (Number.isInteger(lanes) && lanes >= 1 && lanes <= LANES_MAX) return lanes;
  throw new Error(`--lanes ${text}: a whole number from 1 to ${LANES_MAX}`);
}
