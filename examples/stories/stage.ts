// Where one story is played: a Temporal server, one receiver, and workers that can be killed, each
// a process of its own.

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, type HoldfastClient } from '../../client/client.ts';
import { clientConfigFrom } from '../../core/config.ts';
import type { Ledger } from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { type Child, startChild } from '../support-desk/child.ts';
import { type ArmedPoint, armKillPoint } from '../support-desk/kill-points.ts';
import { openPlace, type Place, type TemporalPlace } from '../support-desk/place.ts';
import { type ServiceProcess, startService } from '../support-desk/receivers.ts';

const READY_MS = 60_000;
const DONE_MS = 60_000;
const POLL_MS = 50;

/** An example as processes: which programs there are, and how the worker finds the receiver. */
export interface Cast {
  readonly name: string;
  readonly receiver: {
    readonly script: string;
    readonly args?: readonly string[];
    /** The setting of the worker that holds the receiver's address. */
    readonly urlSetting: string;
  };
  readonly worker: string;
}

export interface StoryStage {
  readonly runId: string;
  readonly temporal: TemporalPlace;
  readonly settings: Readonly<Record<string, string>>;
  readonly client: HoldfastClient;
  readonly ledger: Ledger;
  readonly receiver: ServiceProcess;
  readonly say: (line: string) => void;
  arm(point: ArmedPoint): void;
  /** A new worker process; ready when every worker of it polls. */
  worker(): Promise<Child>;
  /** Polls until `look` gives something; throws with `what` after a minute. */
  until<T>(what: string, look: () => Promise<T | null | false>): Promise<T>;
  stop(): Promise<void>;
}

export interface StoryStageOptions {
  /** `host:port` of a running server; null: an embedded one of our own. */
  readonly existing: string | null;
  readonly say: (line: string) => void;
  /** Further settings of the worker. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Where a program stands built; default: its source. */
  readonly program?: (script: string) => Promise<string>;
}

export async function openStoryStage(cast: Cast, options: StoryStageOptions): Promise<StoryStage> {
  const { existing, say, program = async (script: string) => script } = options;
  const { name, receiver: plays } = cast;
  const { place, started } = await openPlace({ existing, installation: name }, (at) => {
    const { directory } = at.paths;
    const args = ['--store', join(directory, 'receiver.db'), '--port', '0', ...(plays.args ?? [])];
    const receiving = program(plays.script).then((script) =>
      startService({ script: [script, ...args], logPath: join(directory, 'receiver.log') }),
    );
    return [receiving.then(at.kept)] as const;
  });
  const [receiver] = started;
  const { settings, temporal, paths } = place;
  const { ledger, client } = await connected(place);
  const env = {
    ...settings,
    ...options.settings,
    STORY_BUNDLE: place.bundlePath,
    STORY_KILL_POINTS: paths.killPoints,
    [plays.urlSetting]: receiver.url,
  };
  return {
    // On a server of others the id may be taken: it is one business task there for ever.
    runId: existing === null ? name : `${name}-${place.suffix}`,
    ...{ temporal, settings, client, ledger, receiver, say },
    arm: (point) => armKillPoint(paths.killPoints, point),
    async worker() {
      const script = [await program(cast.worker)] as const;
      const worker = place.kept(await startChild({ script, env, logPath: paths.workerLog }));
      await worker.line('READY', READY_MS);
      return worker;
    },
    async until(what, look) {
      for (const deadline = Date.now() + DONE_MS; ; await pause(POLL_MS)) {
        const found = await look();
        if (found !== null && found !== false) return found;
        if (Date.now() > deadline)
          throw new Error(`${what}: not within ${DONE_MS} ms; ${place.workerWords()}`);
      }
    },
    stop: place.stop,
  };
}

async function connected(place: Place) {
  try {
    const ledger = await openSqliteLedger({ path: place.paths.ledger, create: true });
    place.atStop(() => ledger.close());
    const client = await createClient({ config: clientConfigFrom(place.settings), ledger });
    place.atStop(() => client.close());
    return { ledger, client };
  } catch (error) {
    await place.stop();
    throw error;
  }
}
