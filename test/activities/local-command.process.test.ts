// A command on this host has no epoch that a write path would know: only proof that its whole group
// has stopped says that nothing of it comes any more. Catches a killed root process, or a person's
// word about it, taken for that proof.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { defineTool } from '../../activities/index.ts';
import type { ResolveCommand } from '../../core/commands.ts';
import { activityRig, failureOfRun, type Rig, RUN } from '../support/activity-rig.ts';
import { tempDir } from '../support/temp-dir.ts';

const ACTION = `${RUN}.t1.c1`;
const POLL = { timeout: 30_000 };

/** Writes a line once it is told to go on; it outlives the process that started it. */
const CHILD = `const { appendFileSync, existsSync } = require('node:fs');
const [output, go] = process.argv.slice(1);
setInterval(() => {
  if (existsSync(go)) { appendFileSync(output, 'done\\n'); process.exit(); }
}, 20);
console.log('ready');`;
const ROOT = `const { spawn } = require('node:child_process');
const [child, output, go] = process.argv.slice(1);
spawn(process.execPath, ['-e', child, output, go], { stdio: ['ignore', 'inherit', 'ignore'] });
setInterval(() => undefined, 1_000);`;

async function staged() {
  const directory = tempDir();
  const [output, go] = [join(directory, 'output'), join(directory, 'go')];
  const roots: ChildProcess[] = [];
  onTestFinished(() => roots.forEach(endGroup));
  const command = defineTool({
    name: 'run_command',
    version: '1',
    description: 'Runs a command on this host.',
    input: z.strictObject({ script: z.string() }),
    execute: (_, attempt) => {
      attempt.beforeSend();
      const root = spawn(process.execPath, ['-e', ROOT, CHILD, output, go], {
        detached: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      roots.push(root);
      root.stdout?.once('data', () => root.kill('SIGKILL'));
      return new Promise((_, reject) => {
        root.once('exit', (_, signal) => reject(new Error(`the shell ended by ${signal}`)));
      });
    },
  });
  const rig = await activityRig({ tools: { run_command: command } });
  const opened = await rig.open({
    goal: { kind: 'plan', steps: [{ tool: 'run_command', input: { script: 'a' } }] },
  });
  const input = { kind: 'inline', value: { script: 'a' } } as const;
  const attempt = (position = 't1.c1') => rig.perform(rig.call(opened, { position, input }));
  const effects = () =>
    existsSync(output) ? readFileSync(output, 'utf8').split('\n').length - 1 : 0;
  return { rig, attempt, effects, root: () => roots.at(-1), goOn: () => writeFileSync(go, '') };
}

function endGroup(root: ChildProcess | undefined): void {
  if (root?.pid === undefined) throw new Error('no command was started');
  try {
    process.kill(-root.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function groupIsGone(root: ChildProcess | undefined): boolean {
  try {
    return !process.kill(-Number(root?.pid), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

async function sayNotExecuted(rig: Rig, oldRequestCannotArrive: boolean, coverage: string) {
  const { recordVersion = 0 } = (await rig.ledger.read(RUN)).actions.get(ACTION) ?? {};
  const command: ResolveCommand = {
    ...{ id: `not-executed-${recordVersion}`, actor: 'grace', reason: 'looked at the host' },
    ...{ actionId: ACTION, recordVersion, verb: 'confirm_not_executed', coverage },
    evidence: { kind: 'object_observation', source: 'ps' },
    oldRequestCannotArrive,
  };
  const call = { kind: 'resolve', runId: RUN, pin: null, command } as const;
  return rig.activities().recordFacts(call);
}

const doubt = (rig: Rig, attemptId: string) =>
  rig.activities().recordFacts({
    ...{ kind: 'doubt', runId: RUN, pin: null, actionId: ACTION, attemptId },
    ...{ why: 'the shell was killed', externalId: null },
  });

const attemptIdOf = async (rig: Rig) =>
  (await rig.ledger.read(RUN)).actions.get(ACTION)?.attempts[0]?.attemptId ?? '';

test('R-103 the root of a command is killed, its child is not: no conflicting one is', async () => {
  const { rig, attempt, effects, goOn } = await staged();
  await failureOfRun(attempt());
  await doubt(rig, await attemptIdOf(rig));
  expect(await attempt()).toMatchObject({ verdict: 'action_in_doubt' });
  expect(await attempt('t2.c1')).toMatchObject({ verdict: 'twin_unknown' });
  expect(await sayNotExecuted(rig, false, 'the root process is gone')).toMatchObject({
    what: 'applied',
  });
  expect(await attempt()).toMatchObject({ verdict: 'action_in_doubt' });
  expect(effects()).toBe(0);
  goOn();
  await expect.poll(effects, POLL).toBe(1);
});

test('R-103 the whole group has stopped, and a person says so: it may go on', async () => {
  const { rig, attempt, effects, root, goOn } = await staged();
  await failureOfRun(attempt());
  await doubt(rig, await attemptIdOf(rig));
  endGroup(root());
  await expect.poll(() => groupIsGone(root()), POLL).toBe(true);
  await sayNotExecuted(rig, true, 'its process group is gone: no member is left to signal');
  await failureOfRun(attempt());
  goOn();
  await expect.poll(effects, POLL).toBe(1);
});
