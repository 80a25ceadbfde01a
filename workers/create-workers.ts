// The composition root: from a checked configuration and the tools to workers that poll.
//
// Owns: connections, ledger (unless given), registry, one worker per task queue.
// Does not own: what the activities do.
// INV-1 Nothing polls before server, ledger and every tool have been checked.
// INV-2 Each queue has a worker of its own, and the inquiries queue only what reads: a worker there
//       cannot be made to cause an effect by scheduling another activity on it.
// INV-3 `run` ends within the grace time and `FORCE_MS` after shutdown began.

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import {
  type BarrierServer,
  type Clock,
  createActivities,
  createRegistry,
  heartbeatInterceptor,
  type LateSignals,
  type Model,
  type ModelSpending,
  modelFrom,
  modelPort,
  nonRetryableInterceptor,
  type Registry,
  systemClock,
  type Tools,
  temporalBarrier,
  temporalLateSignals,
} from '../activities/index.ts';
import type { HoldfastActivities } from '../core/activity-calls.ts';
import type { Config } from '../core/config.ts';
import { limits } from '../core/limits.ts';
import type { PriceTable } from '../core/prices.ts';
import { openLedger } from '../ledger/open.ts';
import type { Ledger } from '../ledger/port.ts';
import { lateFactSignal, UNKNOWN_ACTION } from '../workflows/messages.ts';
import { type Connections, connect } from './connections.ts';
import { createLog, type Log } from './log.ts';
import { checkServer } from './server-check.ts';
import { bundleWorkflows, packageFile, type WorkflowBundle } from './workflow-bundle.ts';

export interface CreateWorkersOptions {
  readonly config: Config;
  readonly tools: Tools;
  /** Default: the one of the configuration; null: none. */
  readonly model?: Model | null;
  /** Default: those of the configuration. By the exact name of the model at its service. */
  readonly prices?: PriceTable | null;
  /** Default: the one of the configuration, which must exist. One that is given stays open. */
  readonly ledger?: Ledger;
  /** Default: the project's own workflows. Any other comes from `bundleWorkflows`. */
  readonly workflowBundle?: WorkflowBundle;
  /** What stands between the activities and their ports: tracing, or the faults of a test. */
  readonly decorate?: {
    readonly ledger?: (ledger: Ledger) => Ledger;
    readonly registry?: (registry: Registry) => Registry;
    readonly barrier?: (barrier: BarrierServer) => BarrierServer;
    readonly signals?: (signals: LateSignals) => LateSignals;
    readonly clock?: (clock: Clock) => Clock;
  };
  /** How many activities of each queue are at work here at a time. Default: the SDK's. */
  readonly slots?: number;
  readonly log?: Log;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How long a workflow task waits for the worker that has the workflow in memory. */
  readonly stickyScheduleToStartMs?: number;
  /** Task queues that this process polls. Default: all; others must then be served elsewhere. */
  readonly serve?: readonly string[];
}

export interface Workers {
  /** Resolves when all have stopped. Rejects when one fails; the others are stopped first. */
  run(): Promise<void>;
  /** Begins a graceful end; `run` resolves. May be called again. */
  shutdown(): void;
  /** Resolves when every worker polls; needs `run`. */
  readonly started: Promise<void>;
  readonly queues: readonly string[];
}

/** Until a worker that does not end by itself is let go, after the grace time. */
const FORCE_MS = 5_000;
const STICKY_SCHEDULE_TO_START_MS = 10_000;

/** Throws ConfigError, RegistryError, LedgerError or a plain error that says what to do. */
export async function createWorkers(options: CreateWorkersOptions): Promise<Workers> {
  const { config, decorate } = options;
  const { timeouts } = config;
  const checked = createRegistry(options.tools, timeouts);
  const registry = decorate?.registry?.(checked) ?? checked;
  const model =
    options.model === undefined ? modelFrom(config.model, envOf(options)) : options.model;
  const bundle = options.workflowBundle ?? (await ownBundle(envOf(options)));
  const closing: (() => Promise<void>)[] = [];
  try {
    const opened =
      options.ledger ?? (await openLedger(config.ledger, { create: config.createLedger }));
    if (options.ledger === undefined) closing.push(() => opened.close());
    const connections = await connect(config);
    closing.push(() => connections.close());
    const { address, namespace } = config;
    const ports = portsOf(options, connections);
    await checkServer(connections.plain, {
      ...{ address, namespace },
      register: config.registerSearchAttributes,
    });
    const activities = createActivities({
      ledger: decorate?.ledger?.(opened) ?? opened,
      registry,
      model:
        model && modelPort(model, { registry, defaults: timeouts, spending: spendingOf(options) }),
      scope: { installation: config.installation, namespace },
      ...ports,
      log: options.log ?? createLog({ level: config.logLevel }),
      barrierWaitMs: timeouts.barrierWaitMs,
      sendWindowMs: timeouts.sendWindowMs,
      owner: `${process.pid}@${hostname()}`,
      random: randomUUID,
    });
    const all = served(allWorkers({ options, connections, bundle, registry, activities }), options);
    const workers: Worker[] = [];
    for (const one of all) workers.push(await Worker.create(one));
    return running(workers, { queues: all.map(({ taskQueue }) => taskQueue), closing });
  } catch (error) {
    // What could not be composed is the news, not what could not be closed after it.
    await closeAll(closing).catch(() => undefined);
    throw error;
  }
}

function spendingOf({ config, prices = config.prices }: CreateWorkersOptions): ModelSpending {
  return { prices, maxOutputTokens: config.modelMaxOutputTokens };
}

/** What asks the server and the time. */
function portsOf({ config, decorate }: CreateWorkersOptions, { client }: Connections) {
  const barrier = temporalBarrier(client);
  const signals = temporalLateSignals(client, {
    unknownAction: UNKNOWN_ACTION,
    lateFact: lateFactSignal.name,
    runsQueue: config.queues.runs,
  });
  return {
    barrier: decorate?.barrier?.(barrier) ?? barrier,
    signals: decorate?.signals?.(signals) ?? signals,
    clock: decorate?.clock?.(systemClock) ?? systemClock,
  };
}

interface Composition {
  readonly options: CreateWorkersOptions;
  readonly connections: Connections;
  readonly bundle: WorkflowBundle;
  readonly registry: Registry;
  readonly activities: HoldfastActivities;
}

/** Runs: workflows alone. Actions: what causes, opens, records and ends. Inquiries: what reads. */
function allWorkers(composition: Composition): WorkerOptions[] {
  const { options, bundle, registry, activities } = composition;
  const { queues } = options.config;
  const { inquire, performAction, openRun, recordFacts, endRun } = activities;
  const common = commonOptions(composition);
  const own = [...registry.tools.values()].map(({ policy }) => policy.taskQueue);
  const toolQueues = new Set(own.filter((queue) => queue !== null && queue !== queues.actions));
  return [
    {
      ...common,
      taskQueue: queues.runs,
      workflowBundle: bundle,
      stickyQueueScheduleToStartTimeout:
        options.stickyScheduleToStartMs ?? STICKY_SCHEDULE_TO_START_MS,
    },
    {
      ...common,
      taskQueue: queues.actions,
      activities: { performAction, openRun, recordFacts, endRun },
    },
    { ...common, taskQueue: queues.inquiries, activities: { inquire } },
    ...[...toolQueues].map((taskQueue) => ({
      ...common,
      taskQueue: String(taskQueue),
      activities: { performAction },
    })),
  ];
}

function served(
  all: readonly WorkerOptions[],
  { serve }: CreateWorkersOptions,
): readonly WorkerOptions[] {
  if (serve === undefined) return all;
  const known = all.map(({ taskQueue }) => taskQueue);
  const stray = serve.filter((queue) => !known.includes(queue));
  if (stray.length > 0 || serve.length === 0)
    throw new Error(`serve names ${stray.join(', ') || 'no queue'}; there are ${known.join(', ')}`);
  return all.filter(({ taskQueue }) => serve.includes(taskQueue));
}

function commonOptions({ options, connections, registry }: Composition) {
  const { namespace, timeouts } = options.config;
  return {
    connection: connections.native,
    namespace,
    // No data converter: the tolerant one for workflows is part of their bundle, and what reaches
    // activities was made by our workflows.
    interceptors: { activity: [heartbeatInterceptor, nonRetryableInterceptor] },
    // An eagerly dispatched activity is lost with the reply that carries it.
    maxEagerActivityReservationsPerWorkflowTask: 0,
    // The SDK would hold beats back for four fifths of the timeout: then one lost beat ends it.
    maxHeartbeatThrottleInterval: shortestTimeout(registry) / limits.beatsPerTimeout,
    ...(options.slots === undefined ? {} : { maxConcurrentActivityTaskExecutions: options.slots }),
    shutdownGraceTime: timeouts.shutdownGraceMs,
    shutdownForceTime: timeouts.shutdownGraceMs + FORCE_MS,
  } satisfies Partial<WorkerOptions>;
}

function shortestTimeout({ tools }: Registry): number {
  const timeouts = [...tools.values()].map(({ policy }) => policy.heartbeatTimeoutMs);
  return Math.min(limits.infraHeartbeatTimeoutMs, ...timeouts);
}

function ownBundle(env: Readonly<Record<string, string | undefined>>): Promise<WorkflowBundle> {
  return bundleWorkflows({
    workflowsPath: packageFile(import.meta.url, '../workflows/index'),
    payloadConverterPath: packageFile(import.meta.url, '../workflows/payload-converter'),
    env,
  });
}

function envOf({ env }: CreateWorkersOptions) {
  return env ?? process.env;
}

interface Ending {
  readonly queues: readonly string[];
  /** In the order of opening; closed in reverse. */
  readonly closing: readonly (() => Promise<void>)[];
}

function running(workers: readonly Worker[], { queues, closing }: Ending): Workers {
  let tellStarted: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    tellStarted = resolve;
  });
  const shutdown = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  return {
    started,
    queues,
    shutdown,
    async run() {
      try {
        const ends = workers.map((worker) => worker.run());
        tellStarted();
        await Promise.all(ends).catch(async (error: unknown) => {
          shutdown();
          await Promise.allSettled(ends);
          throw error;
        });
      } finally {
        await closeAll(closing);
      }
    },
  };
}

/** Each is closed, whatever the others do; the first problem is told. */
async function closeAll(closing: readonly (() => Promise<void>)[]): Promise<void> {
  const problems: unknown[] = [];
  for (const close of closing.toReversed()) await close().catch((error) => problems.push(error));
  if (problems.length > 0) throw problems[0];
}
