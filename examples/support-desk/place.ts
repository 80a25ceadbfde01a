// Where an example runs: a temporary directory, a Temporal server, the bundled workflows, and every
// process that is started beside them.
//
// INV-1 stop() ends, by pid, every process that was started here, and no other.

import { readFileSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflows, packageFile, startEmbeddedServer } from '../../workers/index.ts';
import type { Child } from './child.ts';

const SAID_CHARS = 2_000;

export interface TemporalPlace {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string | null;
}

export interface PlacePaths {
  readonly directory: string;
  readonly ledger: string;
  readonly killPoints: string;
  readonly workerLog: string;
}

type Started = { readonly child: Child } | Child;

export interface Place {
  readonly temporal: TemporalPlace;
  readonly bundlePath: string;
  /** Of worker and client, as they would stand in a shell. */
  readonly settings: Readonly<Record<string, string>>;
  readonly paths: PlacePaths;
  /** What mkdtemp drew; on a server of others the names of this run need it. */
  readonly suffix: string;
  /** `started`, ended by `stop`. */
  kept<T extends Started>(started: T): T;
  /** `end` is called by `stop`, the last one first. */
  atStop(end: () => Promise<void>): void;
  /** The end of the workers' log, for error messages. */
  workerWords(): string;
  stop(): Promise<void>;
}

export interface PlaceOptions {
  /** `host:port` of a running server; null: an embedded one of our own. */
  readonly existing: string | null;
  /** Name of the installation, and beginning of its task queues. */
  readonly installation: string;
}

/** What is started while the server is: each is given the directory, and keeps what it starts. */
type Beside<T extends readonly unknown[]> = (at: Pick<Place, 'paths' | 'kept'>) => {
  readonly [K in keyof T]: Promise<T[K]>;
};

export async function openPlace<const T extends readonly unknown[]>(
  { existing, installation }: PlaceOptions,
  beside: Beside<T>,
): Promise<{ readonly place: Place; readonly started: T }> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-demo-'));
  // For an exit while it is being set up; `stop` is the orderly way. Others may be writing still.
  process.once('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const paths = pathsIn(directory);
  await mkdir(paths.killPoints);
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (let end = stops.pop(); end !== undefined; end = stops.pop()) await end();
    await rm(directory, { recursive: true, force: true });
  };
  const kept = <S extends Started>(started: S): S => {
    stops.push('child' in started ? started.child.stop : started.stop);
    return started;
  };
  try {
    const [temporal, bundlePath, ...started] = await allOrNone([
      existing === null
        ? embedded(directory, stops)
        : { address: existing, namespace: 'default', uiUrl: null },
      bundle(),
      ...beside({ paths, kept }),
    ] as const);
    const suffix = directory.slice(directory.lastIndexOf('-') + 1);
    const place: Place = {
      ...{ temporal, bundlePath, paths, suffix, kept, stop },
      settings: settingsOf({ temporal, paths, installation, suffix }),
      atStop: (end) => void stops.push(end),
      workerWords: () => readFileSync(paths.workerLog, 'utf8').slice(-SAID_CHARS),
    };
    return { place, started: started as unknown as T };
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

function pathsIn(directory: string): PlacePaths {
  return {
    directory,
    ledger: join(directory, 'ledger.db'),
    killPoints: join(directory, 'kill-points'),
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

interface Settings extends Pick<Place, 'temporal' | 'paths' | 'suffix'> {
  readonly installation: string;
}

function settingsOf({ temporal, paths, installation, suffix }: Settings): Record<string, string> {
  return {
    HOLDFAST_ADDRESS: temporal.address,
    HOLDFAST_NAMESPACE: temporal.namespace,
    HOLDFAST_INSTALLATION: installation,
    HOLDFAST_LEDGER_URL: `sqlite:${paths.ledger}`,
    // A queue of this run alone: on a shared server another worker must not take its tasks.
    HOLDFAST_TASK_QUEUE_PREFIX: `${installation}-${suffix}`,
    // Short, so that a killed worker is noticed while somebody watches.
    HOLDFAST_HEARTBEAT_TIMEOUT_MS: '3000',
    HOLDFAST_START_TO_CLOSE_MS: '20000',
  };
}
