// An agent that edits files while others do: a script in the model's place decides by what it has
// read. Catches: a conflict that is sent again as it is, a merge under the old action or the old
// version, a side that is lost; and a check that still counts after a later change.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import {
  createFileTool,
  defineTool,
  readFileTool,
  replaceFileTool,
} from '../../activities/index.ts';
import { axesOf } from '../../core/axes.ts';
import { digestOfBytes } from '../../core/digest.ts';
import { tempDirOfFile } from '../support/temp-dir.ts';
import { newRunId, startRun, workflowStage } from '../support/workflow-stage.ts';

const root = tempDirOfFile();
/** What a test suite or a linter of the project would be: it wants a line of the file. */
const checkFile = defineTool({
  name: 'check_file',
  version: '1',
  description: 'Checks that a file has the line.',
  input: z.strictObject({ path: z.string(), line: z.string() }),
  replay: 'safe',
  async execute({ path, line }, attempt) {
    attempt.beforeSend();
    const bytes = await readFile(join(root, path));
    const passes = bytes.toString().split('\n').includes(line);
    const objectVersion = digestOfBytes(bytes);
    const verdict = passes ? 'accepted' : 'rejected';
    return {
      kind: 'executed',
      result: { passes },
      evaluates: [{ object: path, objectVersion, verdict }],
    };
  },
});
const stage = workflowStage({
  tools: {
    create_file: createFileTool({ root }),
    read_file: readFileTool({ root }),
    replace_file: replaceFileTool({ root }),
    check_file: checkFile,
  },
});
const goal = { kind: 'model', instructions: 'add your line' } as const;

type Call = { readonly tool: string; readonly input: Record<string, string> };

/** Plays the turns, each of one call that may look at what the earlier ones came to. */
async function play(name: string, turns: readonly ((runId: string) => Promise<Call>)[]) {
  const runId = newRunId(name);
  stage.turns = async (turn) => {
    const next = turns[turn - 1];
    return next === undefined
      ? { text: 'done', calls: [] }
      : { text: '', calls: [await next(runId)] };
  };
  const result = await (await startRun(stage, runId, goal)).result();
  expect(result).toMatchObject({ end: { kind: 'completed' } });
  const run = await stage.ledger.read(runId);
  const action = (turn: number) => {
    const found = run.actions.get(`${runId}.t${turn}.c1`);
    if (found === undefined) throw new Error(`no action of turn ${turn}`);
    return found;
  };
  return { runId, action };
}

const call =
  (tool: string, input: Record<string, string>): (() => Promise<Call>) =>
  async () => ({ tool, input });

/** What an earlier turn read, as the ledger has it for the model. */
async function readIn(runId: string, turn: number): Promise<{ text: string; digest: string }> {
  const { actions } = await stage.ledger.read(runId);
  const { resultRef } = actions.get(`${runId}.t${turn}.c1`)?.final ?? {};
  const bytes = resultRef ? await stage.ledger.payload(resultRef.digest) : null;
  if (bytes === null) throw new Error(`turn ${turn} read nothing`);
  return JSON.parse(Buffer.from(bytes).toString());
}

/** Adds its line to what an earlier turn read, under the version of that. */
const addTo =
  (path: string, turn: number, meanwhile?: string) =>
  async (runId: string): Promise<Call> => {
    const { text, digest } = await readIn(runId, turn);
    // Somebody else writes between the reading and the replacing.
    if (meanwhile !== undefined) await writeFile(join(root, path), `${text}${meanwhile}\n`);
    return { tool: 'replace_file', input: { path, content: `${text}ours\n`, expect: digest } };
  };

test('R-128 K-104 a conflict is not sent again; the merge is an action of its own', async () => {
  const path = 'merge/notes.txt';
  await mkdir(join(root, 'merge'));
  await writeFile(join(root, path), 'base\n');
  const read = call('read_file', { path });
  const { action, runId } = await play('merge', [
    read,
    addTo(path, 1, 'theirs'),
    read,
    addTo(path, 3, 'theirs again'),
    read,
    addTo(path, 5),
  ]);
  expect(await readFile(join(root, path), 'utf8')).toBe('base\ntheirs\ntheirs again\nours\n');
  for (const turn of [2, 4]) {
    const { attempts, final } = action(turn);
    expect(attempts).toHaveLength(1);
    expect(attempts[0]?.settled).toMatchObject({
      outcome: 'refused',
      refusal: { code: 'conflict' },
    });
    expect(final).toMatchObject({ kind: 'refused' });
  }
  const merged = action(6);
  expect(merged.attempts).toHaveLength(1);
  expect(merged.attempts[0]?.settled).toMatchObject({
    outcome: 'executed',
    externalId: path,
    objectVersion: digestOfBytes(await readFile(join(root, path))),
  });
  const asked = await Promise.all(
    [2, 4, 6].map(async (turn) => {
      const digest = action(turn).attempts[0]?.entry.payload.digest;
      const bytes = digest && (await stage.ledger.payload(digest));
      return JSON.parse(Buffer.from(bytes ?? []).toString()).expect as string;
    }),
  );
  expect(new Set(asked).size).toBe(3);
  expect(merged.actionId).toBe(`${runId}.t6.c1`);
});

test('R-129 formatted after its check, a file is not evaluated', async () => {
  const path = 'main.ts';
  const create = { path, content: 'let a = 1\nrun()' };
  const format = {
    ...{ path, content: 'let a = 1;\nrun()' },
    expect: digestOfBytes(Buffer.from(create.content)),
  };
  const check = { path, line: 'run()' };
  const seen: string[][] = [];
  /** With what is said of both writes at that moment. */
  const then = (tool: string, input: Record<string, string>) => async (runId: string) => {
    const run = await stage.ledger.read(runId);
    const writes = [1, 3].flatMap((turn) => run.actions.get(`${runId}.t${turn}.c1`) ?? []);
    seen.push(writes.map((action) => axesOf(run, action).acceptance));
    return { tool, input };
  };
  await play('checked', [
    then('create_file', create),
    then('check_file', check),
    then('replace_file', format),
    then('check_file', check),
    then('read_file', { path }),
    async (runId) => {
      const read = await then('read_file', { path })(runId);
      await writeFile(join(root, path), 'by hand');
      return read;
    },
    then('read_file', { path }),
  ]);
  expect(seen).toEqual([
    [],
    ['not_evaluated'],
    ['accepted'],
    ['not_evaluated', 'not_evaluated'],
    ['not_evaluated', 'accepted'],
    // Read as it was checked.
    ['not_evaluated', 'accepted'],
    // Found changed by another hand.
    ['not_evaluated', 'not_evaluated'],
  ]);
});
