// Workers as the composition root makes them, on the shared server.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import Database from 'better-sqlite3';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { createRegistry, defineTool, temporalBarrier } from '../../activities/index.ts';
import { type Config, configFrom } from '../../core/config.ts';
import type { RunResult } from '../../core/outcome.ts';
import { openSqliteLedger } from '../../ledger/index.ts';
import { type CreateWorkersOptions, createWorkers } from '../../workers/create-workers.ts';
import { AGENT_RUN } from '../../workflows/messages.ts';
import { tempDir } from '../support/temp-dir.ts';

// Workers come and go here on purpose; their every state would fill the output.
Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined) });

const ROOT = new URL('../..', import.meta.url).pathname;

function environment(over: Record<string, string> = {}) {
  const { address, namespace } = inject('temporal');
  return {
    HOLDFAST_ADDRESS: address,
    HOLDFAST_NAMESPACE: namespace,
    HOLDFAST_INSTALLATION: 'shop',
    HOLDFAST_LEDGER_URL: `sqlite:${join(tempDir(), 'ledger.db')}`,
    HOLDFAST_LEDGER_CREATE: 'on',
    HOLDFAST_TASK_QUEUE_PREFIX: `w-${randomUUID().slice(0, 8)}`,
    ...over,
  };
}

const effects: string[] = [];
const chargeCard = (taskQueue?: string) =>
  defineTool({
    name: 'charge_card',
    version: '1',
    description: 'Charges a card.',
    input: z.object({ amount: z.number() }),
    ...(taskQueue === undefined ? {} : { taskQueue }),
    async execute({ amount }, attempt) {
      attempt.beforeSend();
      effects.push(`${attempt.actionId} ${amount}`);
      return { kind: 'executed', result: { charged: amount } };
    },
  });

async function client(config: Config): Promise<Client> {
  const connection = await Connection.connect({ address: config.address });
  onTestFinished(() => connection.close());
  return new Client({ connection, namespace: config.namespace });
}

async function runningWorkers(options: CreateWorkersOptions) {
  const workers = await createWorkers({
    workflowBundle: { codePath: inject('bundlePath') },
    ...options,
  });
  const ended = workers.run();
  await workers.started;
  const stop = async () => {
    workers.shutdown();
    await ended;
  };
  onTestFinished(stop);
  return { ...workers, stop };
}

async function runPlan(config: Config, runId: string): Promise<RunResult> {
  const steps = [{ tool: 'charge_card', input: { amount: 7 } }];
  return (await client(config)).workflow.execute(AGENT_RUN, {
    workflowId: runId,
    taskQueue: config.queues.runs,
    args: [
      {
        goal: { kind: 'plan', steps },
        principal: { user: 'ada', workspace: 'w1' },
        tools: null,
        ticket: null,
      },
    ],
  });
}

test('a run goes from its plan to its end over four queues, one of them a tool’s own', async () => {
  const config = configFrom(environment());
  const own = `${config.queues.actions}-bank`;
  const { queues } = await runningWorkers({ config, tools: { charge_card: chargeCard(own) } });
  expect(queues).toEqual([config.queues.runs, config.queues.actions, config.queues.inquiries, own]);
  const runId = `plan-${randomUUID()}`;
  const result = await runPlan(config, runId);
  expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(effects.filter((each) => each.startsWith(runId))).toEqual([`${runId}.t1.c1 7`]);
});

test('INV-2 on the inquiries queue nothing can be scheduled that causes an effect', async () => {
  const config = configFrom(environment());
  await runningWorkers({ config, tools: { charge_card: chargeCard() } });
  const { activity } = await client(config);
  const perform = (taskQueue: string) =>
    activity.execute('performAction', {
      id: randomUUID(),
      taskQueue,
      args: [{}],
      startToCloseTimeout: '10s',
      retry: { maximumAttempts: 1 },
    });
  const causeOn = (taskQueue: string) =>
    perform(taskQueue).then(
      () => 'it ran',
      (error: Error) => String((error.cause as Error | undefined)?.message ?? error.message),
    );
  expect(await causeOn(config.queues.inquiries)).toMatch(/not registered/);
  // The same call is known where actions are performed, and refused for not being one.
  expect(await causeOn(config.queues.actions)).toMatch(/not scheduled by a workflow/);
});

test('what stands between the activities and their ports sees every call', async () => {
  const config = configFrom(environment());
  const seen: string[] = [];
  await runningWorkers({
    config,
    tools: { charge_card: chargeCard() },
    decorate: {
      ledger: (ledger) => ({
        identity: ledger.identity,
        transact: (look, decide) => {
          seen.push('transact');
          return ledger.transact(look, decide);
        },
        read: (runId) => ledger.read(runId),
        facts: (runId, range) => ledger.facts(runId, range),
        payload: (digest) => ledger.payload(digest),
        runs: (limit) => ledger.runs(limit),
        close: () => ledger.close(),
      }),
      registry: ({ tools }) => {
        const wrapped = [...tools].map(([name, tool]) => {
          const execute: typeof tool.execute = (input, attempt) => {
            seen.push('execute');
            return tool.execute(input, attempt);
          };
          return [name, { ...tool, execute }] as const;
        });
        return { tools: new Map(wrapped) };
      },
    },
  });
  await runPlan(config, `plan-${randomUUID()}`);
  expect(seen.filter((each) => each === 'execute')).toHaveLength(1);
  expect(seen.indexOf('transact')).toBeLessThan(seen.indexOf('execute'));
});

test('INV-3 what is at work when the end begins may finish, and its result is stored', async () => {
  const config = configFrom(environment());
  let atWork: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    atWork = resolve;
  });
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const tool = chargeCard();
  const slow: typeof tool.execute = async (input, attempt) => {
    attempt.beforeSend();
    atWork();
    await finished;
    return { kind: 'executed', result: { charged: input.amount } };
  };
  const { ledger } = config;
  const workers = await runningWorkers({
    config,
    tools: { charge_card: { ...tool, implementation: 'slow', execute: slow } },
  });
  const runId = `plan-${randomUUID()}`;
  void runPlan(config, runId).catch(() => undefined); // no worker is left to end it
  await started;
  const stopped = workers.stop();
  finish();
  await stopped;
  const opened = await openSqliteLedger({ path: ledger.path });
  onTestFinished(() => opened.close());
  const action = (await opened.read(runId)).actions.get(`${runId}.t1.c1`);
  expect(action?.attempts.map(({ settled }) => settled?.outcome)).toEqual(['executed']);
});

test('R-009 an attempt that throws is failed for good: Unpause finds nothing to run', async () => {
  const config = configFrom(environment());
  const tool = chargeCard();
  const execute: typeof tool.execute = async () => {
    throw new Error('connection reset');
  };
  await runningWorkers({ config, tools: { charge_card: { ...tool, execute } } });
  const runId = `plan-${randomUUID()}`;
  void runPlan(config, runId).catch(() => undefined); // it is terminated
  const handle = (await client(config)).workflow.getHandle(runId);
  const deadline = Date.now() + 60_000;
  for (;;) {
    const events = await handle.fetchHistory().then(
      (history) => history.events ?? [],
      () => [], // not started yet
    );
    const failed = events.find((event) => event.activityTaskFailedEventAttributes != null);
    if (failed !== undefined) {
      const { failure } = failed.activityTaskFailedEventAttributes ?? {};
      expect(failure?.applicationFailureInfo).toMatchObject({
        type: 'AttemptAmbiguous',
        nonRetryable: true,
      });
      break;
    }
    if (Date.now() > deadline) throw new Error(`${runId}: no attempt has failed within 60 s`);
  }
  await handle.terminate('seen');
});

describe('nothing polls before everything is checked', () => {
  const refusalOf = async (env: Record<string, string>, tools = {}) =>
    createWorkers({
      config: configFrom(environment(env)),
      tools,
      workflowBundle: { codePath: inject('bundlePath') },
    }).then(
      () => 'nothing was refused',
      (error: Error) => error.message,
    );

  test.each<[string, Record<string, string>, RegExp]>([
    ['no server', { HOLDFAST_ADDRESS: '127.0.0.1:9' }, /127\.0\.0\.1:9 .*HOLDFAST_ADDRESS/],
    ['no namespace', { HOLDFAST_NAMESPACE: 'none' }, /namespace none .*HOLDFAST_NAMESPACE/],
    [
      'R-060 no ledger',
      { HOLDFAST_LEDGER_CREATE: 'off' },
      /ledger\.db.*no such file; check the path, restore a copy/,
    ],
    [
      'a CA file that is not there',
      { HOLDFAST_TLS: 'on', HOLDFAST_TLS_CA: '/none.pem' },
      /none\.pem/,
    ],
  ])('%s', async (_name, env, message) => {
    expect(await refusalOf(env)).toMatch(message);
  });

  test('R-060 a ledger of a newer schema', async () => {
    const env = environment();
    const path = env.HOLDFAST_LEDGER_URL.replace('sqlite:', '');
    await (await openSqliteLedger({ path, create: true })).close();
    new Database(path).exec('update meta set schema_version = 7').close();
    expect(await refusalOf(env)).toMatch(/ledger\.db.*version 7 .* knows \d+/);
  });

  test('a tool with a bad declaration', async () => {
    const tools = { charge: chargeCard() };
    expect(await refusalOf({}, tools)).toMatch(/"charge", name/);
  });

  test('a ledger that is given stays open when the rest fails', async () => {
    const ledger = await openSqliteLedger({ path: join(tempDir(), 'own.db'), create: true });
    onTestFinished(() => ledger.close());
    const config = configFrom(environment({ HOLDFAST_ADDRESS: '127.0.0.1:9' }));
    await expect(createWorkers({ config, tools: {}, ledger })).rejects.toThrow();
    expect((await ledger.read('r')).head.count).toBe(0);
  });
});

describe('the barrier’s questions on a real server', () => {
  const target = { workflowId: 'nobody', runId: randomUUID(), activityId: 'a~1' };

  test('a workflow nobody knows is gone', async () => {
    const config = configFrom(environment());
    const barrier = temporalBarrier(await client(config));
    const answer = await barrier.describe({ ...target, namespace: config.namespace }, 5_000);
    expect(answer).toEqual({ kind: 'gone' });
  });

  test('a server that is gone gives no answer within the time it has', async () => {
    const connection = Connection.lazy({ address: '127.0.0.1:9' });
    onTestFinished(() => connection.close());
    const barrier = temporalBarrier(new Client({ connection }));
    const answer = await barrier.describe({ ...target, namespace: 'default' }, 300);
    expect(answer.kind).toBe('no_answer');
  });
});

describe('the worker as a process', () => {
  function startMain(env: Record<string, string>) {
    const child = spawn(process.execPath, ['--import', 'tsx', 'workers/main.ts'], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, said: () => said };
  }

  async function exitOf(child: ChildProcess): Promise<number | null> {
    if (child.exitCode === null) await once(child, 'exit');
    return child.exitCode;
  }

  test('SIGTERM ends it gracefully, with status 0, after it has worked', async () => {
    const toolsPath = join(tempDir(), 'tools.mjs');
    const code = `import * as z from ${JSON.stringify(import.meta.resolve('zod'))};
      export const tools = { charge_card: { name: 'charge_card', version: '1', description: 'x',
        input: z.object({ amount: z.number() }),
        execute: async () => ({ kind: 'executed', result: null }) } };`;
    await writeFile(toolsPath, code);
    const env = environment({ HOLDFAST_TOOLS: toolsPath });
    const { child, said } = startMain(env);
    await expect.poll(said, { timeout: 60_000 }).toMatch(/workers poll/);
    const result = await runPlan(configFrom(env), `plan-${randomUUID()}`);
    expect(result.end).toEqual({ kind: 'completed' });
    child.kill('SIGTERM');
    expect(await exitOf(child)).toBe(0);
    expect(said()).not.toContain('amount');
  });

  test('what it refuses it names, with status 1', async () => {
    const { child, said } = startMain(environment({ HOLDFAST_TOOLS: '/none/tools.mjs' }));
    expect(await exitOf(child)).toBe(1);
    expect(said()).toMatch(/does not run: .*none\/tools\.mjs/);
  });
});

test('R-142 the registry of a worker has the configuration’s times', () => {
  const { timeouts } = configFrom(environment({ HOLDFAST_START_TO_CLOSE_MS: '30000' }));
  const tool = createRegistry({ charge_card: chargeCard() }, timeouts).tools.get('charge_card');
  expect(tool?.policy.startToCloseMs).toBe(30_000);
});
