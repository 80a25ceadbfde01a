// One zombie test's own world on the shared server: a ledger, two receivers, queues of its own, and
// worker processes that serve what they are told, stand still where they are told, and are frozen.
//
// INV-1 close() ends every process that was started here, by pid, frozen or not, and removes the
//       directory.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { createClient, type HoldfastClient } from '../../client/client.ts';
import { clientConfigFrom, queuesOf } from '../../core/config.ts';
import type { Json } from '../../core/digest.ts';
import type { BodyOf, Fact, FactKind } from '../../core/facts.ts';
import { type Child, startChild } from '../../examples/support-desk/child.ts';
import type { Ledger } from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import type { Arrival } from '../../receiver/index.ts';
import { builtProgram } from './built-program.ts';
import { until } from './fault-stage.ts';
import { type ReceiverProcess, startReceiver } from './receiver-process.ts';
import { armStand, type Stand } from './stand-points.ts';
import type { ZombieSettings } from './zombie-tools.ts';

/** Until a test gives up; nothing is said about time. */
export const WITHIN_MS = 60_000;

/** `tools`: the queue of all tools; `shelf`: of one that is served where a test says so. */
export type Queue = 'runs' | 'actions' | 'inquiries' | 'tools' | 'shelf';

export interface ZombieWorker {
  readonly slots?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Step {
  readonly tool: string;
  readonly input: Json;
}

export interface ZombieStage {
  readonly client: HoldfastClient;
  readonly temporal: Client;
  readonly ledger: Ledger;
  readonly receiver: ReceiverProcess;
  readonly gateway: ReceiverProcess;
  /** Where `create_file` writes. */
  readonly files: string;
  /** What it returns lets go the process that stands there. */
  arm(stand: Stand): () => void;
  /** A new worker process, ready when it polls all of these queues. */
  worker(serves: readonly Queue[], options?: ZombieWorker): Promise<Child>;
  start(runId: string, steps: readonly Step[]): Promise<void>;
  bodies<K extends FactKind>(runId: string, kind: K): Promise<BodyOf<K>[]>;
  facts(runId: string): Promise<Fact[]>;
  /** What came to the reference receiver about the run to be executed, in order. */
  requests(runId: string): Promise<readonly Arrival[]>;
  /** What the gateway sent for the run. */
  sent(runId: string): Promise<number>;
  close(): Promise<void>;
}

export interface ZombieOptions {
  /** Another worker program than `zombie-worker.ts`, with the same settings. */
  readonly program?: string;
  /** Default: the shared one. */
  readonly server?: { readonly address: string; readonly namespace: string };
  /** Further settings of every worker. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function openZombieStage(options: ZombieOptions = {}): Promise<ZombieStage> {
  const { address, namespace } = options.server ?? inject('temporal');
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-zombies-'));
  const [stands, files] = [join(directory, 'stands'), join(directory, 'files')];
  for (const each of [stands, files]) await mkdir(each);
  const path = join(directory, 'ledger.db');
  const ledger = await openSqliteLedger({ path, create: true });
  const [receiver, gateway, connection] = await Promise.all([
    startReceiver({ faults: true }),
    startReceiver({ kind: 'dumb', faults: true }),
    Connection.connect({ address }),
  ]);
  const prefix = `zombies-${directory.slice(directory.lastIndexOf('-') + 1)}`;
  const env = { ...settingsOf({ address, namespace, prefix, path }), ...options.env };
  const client = await createClient({ config: clientConfigFrom(env), ledger, connection });
  const { program = 'test/support/zombie-worker.ts' } = options;
  const at = { directory, stands, files, prefix, receiver, gateway, env, program };
  const workers = workersIn(at);
  return {
    ...{ client, ledger, receiver, gateway, files },
    temporal: new Client({ connection, namespace }),
    arm: (stand) => armStand(stands, stand),
    worker: workers.start,
    async start(runId, steps) {
      const principal = { user: 'ada', workspace: 'w1' };
      await client.start(runId, { goal: { kind: 'plan', steps: [...steps] }, principal });
    },
    ...seen({ ledger, receiver, gateway }),
    async close() {
      await workers.kill();
      await Promise.all([receiver.stop(), gateway.stop(), client.close()]);
      await connection.close();
      await ledger.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function settingsOf(at: Record<'address' | 'namespace' | 'prefix' | 'path', string>) {
  return {
    HOLDFAST_ADDRESS: at.address,
    HOLDFAST_NAMESPACE: at.namespace,
    HOLDFAST_INSTALLATION: 'zombies',
    HOLDFAST_LEDGER_URL: `sqlite:${at.path}`,
    HOLDFAST_TASK_QUEUE_PREFIX: at.prefix,
    // The lease of an attempt. Short, because tests wait for its end.
    HOLDFAST_HEARTBEAT_TIMEOUT_MS: '3000',
    HOLDFAST_LOG_LEVEL: 'warn',
  };
}

interface Place {
  readonly directory: string;
  readonly stands: string;
  readonly files: string;
  readonly prefix: string;
  readonly receiver: ReceiverProcess;
  readonly gateway: ReceiverProcess;
  readonly env: Readonly<Record<string, string>>;
  readonly program: string;
}

function workersIn(place: Place) {
  const { directory, stands, files, prefix, receiver, gateway, env, program } = place;
  const queues = { ...queuesOf(prefix), tools: `${prefix}-tools`, shelf: `${prefix}-shelf` };
  const started: Child[] = [];
  const start: ZombieStage['worker'] = async (serves, options = {}) => {
    const settings: ZombieSettings = {
      ...{ receiverUrl: receiver.url, gatewayUrl: gateway.url, stands, files },
      bundlePath: inject('bundlePath'),
      ...{ toolQueue: queues.tools, shelfQueue: queues.shelf },
      serves: serves.map((queue) => queues[queue]) as [string, ...string[]],
      ...(options.slots === undefined ? {} : { slots: options.slots }),
    };
    const worker = await startChild({
      script: [await builtProgram(program)],
      env: { ...env, ...options.env, ZOMBIE_SETTINGS: JSON.stringify(settings) },
      logPath: join(directory, 'worker.log'),
    });
    started.push(worker);
    await worker.line('READY', WITHIN_MS);
    return worker;
  };
  const kill = async () => {
    for (const worker of started) await worker.kill();
  };
  return { start, kill };
}

type Sources = Pick<ZombieStage, 'ledger' | 'receiver' | 'gateway'>;
type Seen = Pick<ZombieStage, 'facts' | 'bodies' | 'requests' | 'sent'>;

function seen({ ledger, receiver, gateway }: Sources): Seen {
  const facts = (runId: string) => ledger.facts(runId, { after: 0, limit: 10_000 });
  return {
    facts,
    async bodies(runId, kind) {
      const all = (await facts(runId)).map(({ body }) => body);
      return all.filter((body) => body.kind === kind) as BodyOf<typeof kind>[];
    },
    async requests(runId) {
      const all = await receiver.requests();
      return all.filter(({ kind, key }) => kind === 'execute' && key.includes(`/${runId}.`));
    },
    async sent(runId) {
      const log = await gateway.log();
      return log.filter(({ mail }) => JSON.stringify(mail).includes(` ${runId} `)).length;
    },
  };
}

/** One notice, to be told from those of other runs at the gateway. */
export const noticeOf = (runId: string, tool = 'notice'): Step => ({
  tool,
  input: { to: 'lead@example.com', subject: `Notice ${runId} of today`, body: '' },
});

/** The request about the run waits in front of its receiver. */
export function untilHeld(receiver: ReceiverProcess, runId: string, count = 1): Promise<true> {
  return until(`${count} held for ${runId}`, WITHIN_MS, async () => {
    const { held, armed } = await receiver.faults();
    const byKey = held.filter(({ key }) => key.includes(`/${runId}.`)).length;
    const byBody = armed.filter(({ bodyIncludes }) => bodyIncludes === ` ${runId} `);
    return byKey + byBody.reduce((total, { hits }) => total + hits, 0) === count;
  });
}
