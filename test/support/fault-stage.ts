// One fault test's own world on the shared server: a ledger, two receivers, a queue of its own, and
// worker processes that can be killed.
//
// INV-1 close() ends every process that was started here, by pid, and removes the directory.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, type HoldfastClient } from '../../client/client.ts';
import { clientConfigFrom } from '../../core/config.ts';
import type { Question } from '../../core/question.ts';
import { type Child, startChild } from '../../examples/support-desk/child.ts';
import { type ArmedPoint, armKillPoint } from '../../examples/support-desk/kill-points.ts';
import type { Ledger } from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import type { BarrierWatch } from './barrier-watch.ts';
import { builtProgram } from './built-program.ts';
import type { FaultSettings } from './fault-tools.ts';
import { type ReceiverProcess, startReceiver } from './receiver-process.ts';

const READY_MS = 60_000;
const POLL_MS = 50;

export interface FaultServer {
  readonly address: string;
  readonly namespace: string;
  readonly bundlePath: string;
}

export interface FaultOptions {
  /** Flags of the reference receiver, e.g. ['--counter-initial', '10']. */
  readonly receiverFlags?: readonly string[];
  readonly retentionMs?: number;
  readonly retentionMarginMs?: number;
  /** Further settings of the worker, e.g. { HOLDFAST_START_TO_CLOSE_MS: '4000' }. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Another worker program than `fault-worker.ts`. */
  readonly program?: string;
  /** Where the ledger is put; default: beside everything else of the stage. */
  readonly ledgerDirectory?: string;
  readonly barrier?: BarrierWatch;
  readonly callsAtOnce?: number;
}

export interface FaultStage {
  readonly client: HoldfastClient;
  readonly ledgerPath: string;
  /** What any process of this installation is configured with. */
  readonly env: Readonly<Record<string, string>>;
  /** The directory that the workers look into for what a test wants of them. */
  readonly killPoints: string;
  readonly ledger: Ledger;
  readonly receiver: ReceiverProcess;
  readonly gateway: ReceiverProcess;
  arm(point: ArmedPoint): void;
  /** The running worker process, or a new one where none runs; ready when every worker polls. */
  worker(serves?: FaultSettings['serves']): Promise<Child>;
  /** A new worker process, whatever runs; `over`: what is other than in the stage's settings. */
  another(serves: FaultSettings['serves'], over?: Partial<FaultSettings>): Promise<Child>;
  close(): Promise<void>;
}

export async function openFaultStage(
  server: FaultServer,
  options: FaultOptions = {},
): Promise<FaultStage> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-faults-'));
  const killPoints = join(directory, 'kill-points');
  await mkdir(killPoints);
  const prefix = `faults-${directory.slice(directory.lastIndexOf('-') + 1)}`;
  const path = join(options.ledgerDirectory ?? directory, 'ledger.db');
  const ledger = await openSqliteLedger({ path, create: true });
  const [receiver, gateway] = await Promise.all([
    startReceiver({ faults: true, flags: options.receiverFlags ?? [] }),
    startReceiver({ kind: 'dumb', faults: true }),
  ]);
  const { receiverFlags: _, program = 'test/support/fault-worker.ts', ...others } = options;
  const { settings: more = {}, ledgerDirectory: __, ...retention } = others;
  const env = { ...settingsOf(server, { prefix, ledgerPath: path }), ...more };
  const client = await createClient({ config: clientConfigFrom(env), ledger });
  const own = { receiverUrl: receiver.url, gatewayUrl: gateway.url, ...retention };
  const workers: Child[] = [];
  const another: FaultStage['another'] = async (serves, over = {}) => {
    const { bundlePath } = server;
    const settings: FaultSettings = {
      ...{ ...own, bundlePath, killPoints, serves },
      elsewhere: `${prefix}-elsewhere`,
      ...over,
    };
    const worker = await startChild({
      script: [await builtProgram(program)],
      env: { ...env, FAULT_SETTINGS: JSON.stringify(settings) },
      logPath: join(directory, 'worker.log'),
    });
    workers.push(worker);
    await worker.line('READY', READY_MS);
    return worker;
  };
  return {
    client,
    ledgerPath: path,
    env,
    killPoints,
    ledger,
    receiver,
    gateway,
    arm: (point) => armKillPoint(killPoints, point),
    another,
    async worker(serves = 'all') {
      const running = workers.find((worker) => !worker.hasEnded());
      return running ?? another(serves);
    },
    async close() {
      for (const worker of workers) await worker.kill();
      await Promise.all([receiver.stop(), gateway.stop(), client.close()]);
      await ledger.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Place {
  readonly prefix: string;
  readonly ledgerPath: string;
}

function settingsOf(server: FaultServer, { prefix, ledgerPath }: Place): Record<string, string> {
  return {
    HOLDFAST_ADDRESS: server.address,
    HOLDFAST_NAMESPACE: server.namespace,
    HOLDFAST_INSTALLATION: 'faults',
    HOLDFAST_LEDGER_URL: `sqlite:${ledgerPath}`,
    HOLDFAST_TASK_QUEUE_PREFIX: prefix,
    // Short, so that a killed worker is noticed soon; a slow machine makes it no less right.
    HOLDFAST_HEARTBEAT_TIMEOUT_MS: '3000',
    HOLDFAST_LOG_LEVEL: 'warn',
  };
}

/** Polls until `look` gives something; throws with `what` when the deadline has passed. */
export async function until<T>(
  what: string,
  withinMs: number,
  look: () => Promise<T | null | false>,
): Promise<T> {
  for (const deadline = Date.now() + withinMs; ; await pause(POLL_MS)) {
    const found = await look();
    if (found !== null && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`);
  }
}

/** The question that a person would see; its child is open. */
export function asked(client: HoldfastClient, actionId: string): Promise<Question> {
  return until(`a question about ${actionId}`, READY_MS, async () => {
    const { questions } = await client.inbox();
    return questions.find((q) => q.actionId === actionId && q.child === 'open')?.question ?? null;
  });
}
