// Everything that runs beside the demo itself: a Temporal server, the model service, two receivers,
// and workers, each a process of its own in a temporary directory of this run.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startChild } from './child.ts';
import { openPlace, type Place, type PlacePaths, type TemporalPlace } from './place.ts';
import { type ReceiverProcess, startReceiver } from './receivers.ts';
import { workerStarter } from './standby.ts';

const READY_MS = 60_000;

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

export interface DeskPaths extends PlacePaths {
  readonly output: string;
  readonly modelLog: string;
}

export interface StageOptions {
  /** `host:port` of a running server; null: an embedded one of our own. */
  readonly existing: string | null;
  /** How many worker processes will be started, one after the other. */
  readonly workers: number;
}

export async function openStage({ existing, workers }: StageOptions): Promise<Stage> {
  const installation = 'support-desk';
  const { place, started } = await openPlace({ existing, installation }, (at) => {
    const paths = pathsIn(at.paths);
    mkdirSync(paths.output);
    const { directory } = paths;
    return [
      startReceiver({ kind: 'reference', directory }).then(at.kept),
      startReceiver({ kind: 'dumb', directory }).then(at.kept),
      startModel(paths, at.kept),
    ] as const;
  });
  const [tickets, notices, modelUrl] = started;
  const paths = pathsIn(place.paths);
  const settings = { ...place.settings, ...modelSettings(modelUrl) };
  const env = {
    ...settings,
    SUPPORT_DESK_BUNDLE: place.bundlePath,
    SUPPORT_DESK_MAILS: 'examples/support-desk/mails.jsonl',
    SUPPORT_DESK_OUTPUT: paths.output,
    SUPPORT_DESK_KILL_POINTS: paths.killPoints,
    SUPPORT_DESK_TICKETS_URL: tickets.url,
    SUPPORT_DESK_NOTICES_URL: notices.url,
  };
  const script = ['examples/support-desk/worker.ts'] as const;
  const logPath = paths.workerLog;
  const spawn = async () => place.kept(await startChild({ script, env, logPath }));
  const { startWorker, settled } = workerStarter(workers, spawn);
  place.atStop(settled);
  // On a server of others the id may be taken: it is one business task there for ever.
  const runId = existing === null ? 'morning-mail' : `morning-mail-${place.suffix}`;
  const { temporal, workerWords, stop } = place;
  return { runId, temporal, settings, paths, tickets, notices, startWorker, workerWords, stop };
}

function pathsIn(paths: PlacePaths): DeskPaths {
  return {
    ...paths,
    output: join(paths.directory, 'output'),
    modelLog: join(paths.directory, 'model-requests.jsonl'),
  };
}

async function startModel(paths: DeskPaths, kept: Place['kept']): Promise<string> {
  const script = ['examples/support-desk/model-server.ts', paths.modelLog] as const;
  const logPath = join(paths.directory, 'model-server.log');
  const model = kept(await startChild({ script, logPath }));
  const { port } = JSON.parse(await model.line('READY ', READY_MS)) as { port: number };
  return `http://127.0.0.1:${port}/v1`;
}

function modelSettings(url: string): Record<string, string> {
  return {
    HOLDFAST_MODEL_PROVIDER: 'openai-compatible',
    HOLDFAST_MODEL_BASE_URL: url,
    HOLDFAST_MODEL_NAME: 'scripted',
  };
}
