// The workflows on the shared server: real activities on a real ledger, tools that are functions of
// the test, and a place between workflow and activities where a test may answer instead.
//
// INV-1 Every stage has queues and a ledger of its own; workers are stopped when the file ends.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeAll, inject } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import {
  createActivities,
  createRegistry,
  nonRetryableInterceptor,
  systemClock,
  temporalBarrier,
  temporalLateSignals,
} from '../../activities/index.ts';
import type { Inquiry, InquiryAnswer } from '../../activities/tool.ts';
import type { HoldfastActivities } from '../../core/activity-calls.ts';
import type { ResolveCommand } from '../../core/commands.ts';
import { queuesOf } from '../../core/config.ts';
import type { Json } from '../../core/digest.ts';
import type { Fact } from '../../core/facts.ts';
import { actionIdOf, unknownIdOf } from '../../core/ids.ts';
import { limits } from '../../core/limits.ts';
import type { ActionState } from '../../core/run-state.ts';
import { openSqliteLedger } from '../../ledger/index.ts';
import type { Ledger } from '../../ledger/port.ts';
import { bundleWorkflows, packageFile } from '../../workers/workflow-bundle.ts';
import type { AgentRunInput } from '../../workflows/messages.ts';
import { lateFactSignal, UNKNOWN_ACTION } from '../../workflows/messages.ts';
import { scriptedModel, type Turn } from './scripted-turns.ts';
import { type Behave, toolsOf } from './stage-tools.ts';
import { tempDirOfFile } from './temp-dir.ts';

type Name = keyof HoldfastActivities;
type Around = {
  [K in Name]?: (
    call: Parameters<HoldfastActivities[K]>[0],
    next: HoldfastActivities[K],
  ) => ReturnType<HoldfastActivities[K]>;
};

export interface WorkflowStage {
  readonly client: Client;
  readonly ledger: Ledger;
  readonly queues: ReturnType<typeof queuesOf>;
  /** What stands between; emptied after each test. */
  around: Around;
  /**
   * What the tools do at their receivers; `executed` unless told otherwise. Reset after each test.
   */
  behave: Partial<Record<string, Behave>>;
  inquire: (inquiry: Inquiry) => Promise<InquiryAnswer<Json>>;
  /** Replies of the model by turn. */
  turns: (turn: number) => Turn | Promise<Turn>;
  /** Action ids as the receivers saw them, in order. */
  readonly effects: string[];
  /** Activity types as they were delivered, in order. */
  readonly delivered: string[];
}

const start = { startToCloseMs: 20_000, heartbeatTimeoutMs: 5_000, scheduleToStartMs: 60_000 };

export interface StageOptions {
  readonly workflowsPath?: string;
  readonly maxCachedWorkflows?: number;
  /** Left out by a composition that forgot it. Default: installed. */
  readonly interceptor?: 'forgotten';
  /** Tools of the file's own, beside those that are functions of the test. */
  readonly tools?: Parameters<typeof createRegistry>[0];
  /** Of a server of the file's own; default: the shared one. */
  readonly server?: () => Promise<OwnServer>;
}

export interface OwnServer {
  readonly address: string;
  readonly namespace: string;
  stop(): Promise<void>;
}

// Runs that end on purpose by a failure would fill the output.
Runtime.install({ logger: new DefaultLogger('ERROR') });

/** Called outside of the tests of a file. */
export function workflowStage(options: StageOptions = {}): WorkflowStage {
  const directory = tempDirOfFile();
  const queues = queuesOf(`wf-${randomUUID().slice(0, 8)}`);
  const stage = { queues, effects: [], delivered: [] } as unknown as Writable<WorkflowStage>;
  const closing: (() => Promise<unknown>)[] = [];
  const reset = () => {
    stage.around = {};
    stage.behave = {};
    stage.inquire = async () => ({ verdict: 'unavailable' });
    stage.turns = () => ({ text: 'done', calls: [] });
    stage.effects.length = 0;
    stage.delivered.length = 0;
  };
  reset();
  afterEach(reset);
  beforeAll(async () => {
    const own = await options.server?.();
    const { address, namespace } = own ?? inject('temporal');
    const connection = await Connection.connect({ address });
    const native = await NativeConnection.connect({ address });
    stage.client = new Client({ connection, namespace });
    stage.ledger = await openSqliteLedger({ path: join(directory, 'ledger.db'), create: true });
    const activities = activitiesOf(stage, namespace, options.tools);
    const workers = await workersOf({ stage, native, activities, options, namespace });
    const ends = workers.map((worker) => worker.run());
    closing.push(async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(ends);
      await stage.ledger.close();
      await native.close();
      await connection.close();
      await own?.stop();
    });
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });
  return stage;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function activitiesOf(
  stage: WorkflowStage,
  namespace: string,
  tools: StageOptions['tools'],
): HoldfastActivities {
  const registry = createRegistry({ ...toolsOf(stage), ...tools }, start);
  const deps: ActivityDeps = {
    ledger: stage.ledger,
    registry,
    model: scriptedModel((turn) => stage.turns(turn), start),
    scope: { installation: 'shop', namespace },
    barrier: temporalBarrier(stage.client),
    signals: temporalLateSignals(stage.client, {
      unknownAction: UNKNOWN_ACTION,
      lateFact: lateFactSignal.name,
      runsQueue: stage.queues.runs,
    }),
    clock: systemClock,
    log: { info: () => undefined, warn: () => undefined },
    barrierWaitMs: limits.barrierWaitMs,
    sendWindowMs: limits.sendWindowMs,
    owner: 'test',
    random: randomUUID,
  };
  const real = createActivities(deps);
  const wrapped = <K extends Name>(name: K) =>
    (async (call: never) => {
      stage.delivered.push(name);
      const around = stage.around[name] as ((call: never, next: unknown) => unknown) | undefined;
      const next = real[name] as (call: never) => unknown;
      return around === undefined ? next(call) : around(call, next);
    }) as unknown as HoldfastActivities[K];
  return {
    openRun: wrapped('openRun'),
    performAction: wrapped('performAction'),
    inquire: wrapped('inquire'),
    recordFacts: wrapped('recordFacts'),
    endRun: wrapped('endRun'),
  };
}

interface Composition {
  readonly stage: WorkflowStage;
  readonly native: NativeConnection;
  readonly activities: HoldfastActivities;
  readonly options: StageOptions;
  readonly namespace: string;
}

async function workersOf({ stage, native, activities, options, namespace }: Composition) {
  const { maxCachedWorkflows, workflowsPath, interceptor } = options;
  const { runs, actions, inquiries } = stage.queues;
  const common = {
    connection: native,
    namespace,
    interceptors: { activity: interceptor === 'forgotten' ? [] : [nonRetryableInterceptor] },
    shutdownGraceTime: 0,
    shutdownForceTime: 2_000,
  };
  const { inquire, ...acting } = activities;
  return Promise.all([
    Worker.create({
      ...common,
      taskQueue: runs,
      // The tolerant converter is inside the bundle.
      workflowBundle: { codePath: await bundleOf(workflowsPath) },
      ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
    }),
    Worker.create({ ...common, taskQueue: actions, activities: { ...acting } }),
    Worker.create({ ...common, taskQueue: inquiries, activities: { inquire } }),
  ]);
}

async function bundleOf(workflowsPath: string | undefined): Promise<string> {
  if (workflowsPath === undefined) return inject('bundlePath');
  const payloadConverterPath = packageFile(import.meta.url, '../../workflows/payload-converter');
  return (await bundleWorkflows({ workflowsPath, payloadConverterPath })).codePath;
}

/** Ids of their own for each run of a test file. */
export function newRunId(name: string): string {
  return `${name}-${randomUUID().slice(0, 8)}`;
}

export const principal = { user: 'ada', workspace: 'shop' };

export async function startRun(
  { client, queues }: WorkflowStage,
  runId: string,
  goal: AgentRunInput['goal'] | object,
) {
  const args = [{ goal, principal, tools: null, ticket: null }];
  return client.workflow.start('agentRun', { workflowId: runId, taskQueue: queues.runs, args });
}

export function factsOf({ ledger }: WorkflowStage, runId: string): Promise<Fact[]> {
  return ledger.facts(runId, { after: 0, limit: 10_000 });
}

/** Polls; the deadline is for tests that hang, not a statement about time. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | undefined | false>,
): Promise<T> {
  const deadline = Date.now() + 45_000;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`not within 45 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** The action, once it has an open attempt in doubt and its question is open. */
export async function inDoubt(
  stage: WorkflowStage,
  runId: string,
  position: string,
): Promise<ActionState> {
  const actionId = actionIdOf(runId, position);
  const action = await eventually(`${actionId} in doubt`, async () => {
    const found = (await stage.ledger.read(runId)).actions.get(actionId);
    return found?.attempts.some((each) => each.doubted) === true ? found : null;
  });
  const child = stage.client.workflow.getHandle(unknownIdOf(actionId));
  await eventually(`${actionId}'s question`, async () =>
    child.describe().then(
      ({ status }) => status.name === 'RUNNING',
      () => false,
    ),
  );
  return action;
}

/** An answer of a person to the newest record of the action. */
export function answerTo(action: ActionState, answer: object): ResolveCommand {
  return {
    id: `answer-${randomUUID()}`,
    actor: 'ada',
    reason: 'looked it up',
    actionId: action.actionId,
    recordVersion: action.recordVersion,
    ...answer,
  } as ResolveCommand;
}

export const evidence = { kind: 'receiver_query', source: 'log line 7' } as const;
