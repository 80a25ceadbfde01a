// Everything that runs beside the demo itself: a Temporal server, the model service, two receivers,
// and workers, each a process of its own in a temporary directory of this run.
//
// INV-1 stop() ends, by pid, every process that was started here, and no other.

import { readFileSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflows, packageFile, startEmbeddedServer } from '../../workers/index.ts';
import { type Child, startChild } from './child.ts';
import { type ReceiverProcess, startReceiver } from './receivers.ts';
import { workerStarter } from './standby.ts';

const READY_MS = 60_000;
const SAID_CHARS = 2_000;

export interface TemporalPlace {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string | null;
}

export interface Stage {
  readonly runId: string;
  readonly temporal: TemporalPlace;
  /** Of worker and client, as they would stand in a shell. */
  readonly settings: Readonly<Record<string, string>>;
  readonly paths: DeskPaths;
  readonly tickets: ReceiverProcess;
  readonly notices: ReceiverProcess;
  startWorker(): Promise<Child>;
  /** The end of the workers' log, for error messages. */
  workerWords(): string;
  stop(): Promise<void>;
}

export interface DeskPaths {
  readonly directory: string;
  readonly ledger: string;
  readonly output: string;
  readonly killPoints: string;
  readonly modelLog: string;
  readonly workerLog: string;
}

export interface StageOptions {
  /** `host:port` of a running server; null: an embedded one of our own. */
  readonly existing: string | null;
  /** How many worker processes will be started, one after the other. */
  readonly workers: number;
}

export async function openStage({ existing, workers }: StageOptions): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-demo-'));
  // For an exit while it is being set up; `stop` is the orderly way. Others may be writing still.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const paths = pathsIn(directory);
  for (const each of [paths.killPoints, paths.output]) await mkdir(each);
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (let end = stops.pop(); end !== undefined; end = stops.pop()) await end();
    await rm(directory, { recursive: true, force: true });
  };
  const kept = <T extends { readonly child: Child } | Child>(started: T): T => {
    stops.push('child' in started ? started.child.stop : started.stop);
    return started;
  };
  try {
    const [temporal, bundlePath, tickets, notices, modelUrl] = await allOrNone([
      existing === null
        ? embedded(directory, stops)
        : { address: existing, namespace: 'default', uiUrl: null },
      bundle(),
      startReceiver({ kind: 'reference', directory }).then(kept),
      startReceiver({ kind: 'dumb', directory }).then(kept),
      startModel(paths, kept),
    ]);
    const settings = settingsOf({ temporal, paths, modelUrl });
    const env = {
      ...settings,
      SUPPORT_DESK_BUNDLE: bundlePath,
      SUPPORT_DESK_MAILS: 'examples/support-desk/mails.jsonl',
      SUPPORT_DESK_OUTPUT: paths.output,
      SUPPORT_DESK_KILL_POINTS: paths.killPoints,
      SUPPORT_DESK_TICKETS_URL: tickets.url,
      SUPPORT_DESK_NOTICES_URL: notices.url,
    };
    const script = ['examples/support-desk/worker.ts'] as const;
    const logPath = paths.workerLog;
    const spawn = async () => kept(await startChild({ script, env, logPath }));
    const { startWorker, settled } = workerStarter(workers, spawn);
    stops.push(settled);
    // On a server of others the id may be taken: it is one business task there for ever.
    const runId = existing === null ? 'morning-mail' : `morning-mail-${suffixOf(directory)}`;
    const workerWords = () => readFileSync(paths.workerLog, 'utf8').slice(-SAID_CHARS);
    const processes = { tickets, notices, startWorker, workerWords, stop };
    return { runId, temporal, settings, paths, ...processes };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Promise.all, but when one fails the others have ended, too, so that all can be stopped. */
async function allOrNone<T extends readonly unknown[]>(
  starts: {
    readonly [K in keyof T]: T[K] | Promise<T[K]>;
  },
): Promise<T> {
  await Promise.allSettled(starts);
  return (await Promise.all(starts)) as unknown as T;
}

function pathsIn(directory: string): DeskPaths {
  return {
    directory,
    ledger: join(directory, 'ledger.db'),
    output: join(directory, 'output'),
    killPoints: join(directory, 'kill-points'),
    modelLog: join(directory, 'model-requests.jsonl'),
    workerLog: join(directory, 'worker.log'),
  };
}

async function embedded(directory: string, stops: (() => Promise<void>)[]): Promise<TemporalPlace> {
  const server = await startEmbeddedServer({ ui: true, dbPath: join(directory, 'temporal.db') });
  stops.push(server.stop);
  return server;
}

async function bundle(): Promise<string> {
  const { codePath } = await bundleWorkflows({
    workflowsPath: packageFile(import.meta.url, '../../workflows/index'),
    payloadConverterPath: packageFile(import.meta.url, '../../workflows/payload-converter'),
  });
  return codePath;
}

async function startModel(paths: DeskPaths, kept: (child: Child) => Child): Promise<string> {
  const script = ['examples/support-desk/model-server.ts', paths.modelLog] as const;
  const logPath = join(paths.directory, 'model-server.log');
  const model = kept(await startChild({ script, logPath }));
  const { port } = JSON.parse(await model.line('READY ', READY_MS)) as { port: number };
  return `http://127.0.0.1:${port}/v1`;
}

/** What mkdtemp drew. */
function suffixOf(directory: string): string {
  return directory.slice(directory.lastIndexOf('-') + 1);
}

interface Settings {
  readonly temporal: TemporalPlace;
  readonly paths: DeskPaths;
  readonly modelUrl: string;
}

function settingsOf({ temporal, paths, modelUrl }: Settings): Record<string, string> {
  return {
    HOLDFAST_ADDRESS: temporal.address,
    HOLDFAST_NAMESPACE: temporal.namespace,
    HOLDFAST_INSTALLATION: 'support-desk',
    HOLDFAST_LEDGER_URL: `sqlite:${paths.ledger}`,
    // A queue of this run alone: on a shared server another worker must not take its tasks.
    HOLDFAST_TASK_QUEUE_PREFIX: `support-desk-${suffixOf(paths.directory)}`,
    // Short, so that a killed worker is noticed while somebody watches.
    HOLDFAST_HEARTBEAT_TIMEOUT_MS: '3000',
    HOLDFAST_START_TO_CLOSE_MS: '20000',
    HOLDFAST_MODEL_PROVIDER: 'openai-compatible',
    HOLDFAST_MODEL_BASE_URL: modelUrl,
    HOLDFAST_MODEL_NAME: 'scripted',
  };
}
