// One check's own world on a server: a ledger, a receiver and a gateway behind wires that break,
// and worker processes; any of them can be killed and started anew while it is at work.
//
// INV-1 At most one worker and one receiver are away at once, and each comes back.
// INV-2 close() ends every process that was started here, by pid, frozen or not, and removes the
//       directory.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { createClient, type HoldfastClient } from '../../client/client.ts';
import { clientConfigFrom } from '../../core/config.ts';
import { type Child, startChild } from '../../examples/support-desk/child.ts';
import type { Ledger } from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { builtProgram } from '../support/built-program.ts';
import type { FaultServer } from '../support/fault-stage.ts';
import { type ReceiverProcess, startReceiver } from '../support/receiver-process.ts';
import { moment } from '../support/signal-flood.ts';
import type { ClaimSettings } from './claim-tools.ts';
import type { Play, Strike, StrikeKind } from './operations.ts';
import { startWire, type Wire } from './wire.ts';

const READY_MS = 60_000;

export interface ClaimStage {
  readonly client: HoldfastClient;
  readonly temporal: Client;
  readonly ledger: Ledger;
  readonly wires: readonly Wire[];
  /** What was done to processes so far, by kind. */
  readonly strikes: ReadonlyMap<string, number>;
  /** Once every strike that has begun is over. */
  quiet(): Promise<void>;
  receiver(): ReceiverProcess;
  gateway(): ReceiverProcess;
  close(): Promise<void>;
}

export interface ClaimStageOptions {
  readonly play: Play;
  readonly workers: number;
  readonly lies?: ClaimSettings['lies'];
}

export async function openClaimStage(
  server: FaultServer,
  { play, workers: count, lies = [] }: ClaimStageOptions,
): Promise<ClaimStage> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-claims-'));
  const path = join(directory, 'ledger.db');
  const ledger = await openSqliteLedger({ path, create: true });
  const receivers = await receiversIn(directory);
  const connection = await Connection.connect({ address: server.address });
  const prefix = `claims-${directory.slice(directory.lastIndexOf('-') + 1)}`;
  const env = settingsOf(server, { prefix, path });
  const client = await createClient({ config: clientConfigFrom(env), ledger, connection });
  const workers: Child[] = [];
  const settings = { bundlePath: server.bundlePath, lies };
  const striking = strikingOf(play, { receivers, workers, another: () => another() });
  const ops = new Map(play.ops.map((op) => [op.id, op]));
  const wire = (name: keyof Receivers) =>
    startWire({ to: () => receivers[name].url, ops, began: ({ id }) => striking.at(id) });
  const [first, second] = await Promise.all([wire('receiver'), wire('gateway')]);
  const urls = { receiverUrl: first.url, gatewayUrl: second.url };
  const another = () => workerIn(directory, env, { ...settings, ...urls });
  workers.push(...(await Promise.all(Array.from({ length: count }, another))));
  const wires = [first, second];
  return {
    ...{ client, ledger, wires, strikes: striking.done, quiet: striking.quiet },
    temporal: new Client({ connection, namespace: server.namespace }),
    receiver: () => receivers.receiver,
    gateway: () => receivers.gateway,
    async close() {
      await striking.quiet();
      for (const worker of workers) await worker.kill();
      for (const each of wires) await each.stop();
      await Promise.all([receivers.receiver.stop(), receivers.gateway.stop(), client.close()]);
      await connection.close();
      await ledger.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Receivers {
  receiver: ReceiverProcess;
  gateway: ReceiverProcess;
}

async function receiversIn(directory: string): Promise<Receivers> {
  const [receiver, gateway] = await Promise.all([
    startReceiver({ store: join(directory, 'receiver') }),
    startReceiver({ kind: 'dumb', store: join(directory, 'gateway') }),
  ]);
  return { receiver, gateway };
}

async function workerIn(
  directory: string,
  env: Readonly<Record<string, string>>,
  settings: ClaimSettings,
): Promise<Child> {
  const worker = await startChild({
    script: [await builtProgram('test/claims/claim-worker.ts')],
    env: { ...env, CLAIM_SETTINGS: JSON.stringify(settings) },
    logPath: join(directory, 'worker.log'),
  });
  await worker.line('READY', READY_MS);
  return worker;
}

interface Struck {
  readonly receivers: Receivers;
  readonly workers: Child[];
  readonly another: () => Promise<Child>;
}

/** Those at workers wait for each other, in the order of their moments; so do those at the rest. */
function strikingOf({ strikes }: Play, struck: Struck) {
  const done = new Map<string, number>();
  const lanes = { workers: Promise.resolve(), receivers: Promise.resolve() };
  const next = async (strike: Strike) => {
    await strikeWith[strike.kind](struck, strike);
    done.set(strike.kind, (done.get(strike.kind) ?? 0) + 1);
  };
  return {
    done,
    quiet: async () => void (await Promise.all(Object.values(lanes))),
    at(opId: string) {
      for (const strike of strikes.filter(({ at }) => at === opId)) {
        const lane = strike.kind.endsWith('_worker') ? 'workers' : 'receivers';
        lanes[lane] = lanes[lane].then(() => next(strike));
        // Seen by `quiet`, whenever somebody asks.
        lanes[lane].catch(() => undefined);
      }
    },
  };
}

const strikeWith: Record<StrikeKind, (struck: Struck, strike: Strike) => Promise<void>> = {
  async kill_worker({ workers, another }, { victim }) {
    await workers[victim]?.kill();
    workers[victim] = await another();
  },
  async freeze_worker({ workers }, { victim, frozenMs }) {
    workers[victim]?.freeze();
    await moment(frozenMs);
    workers[victim]?.thaw();
  },
  async kill_receiver({ receivers }) {
    const { receiver } = receivers;
    await receiver.kill();
    receivers.receiver = await startReceiver({ store: receiver.store });
  },
  async kill_gateway({ receivers }) {
    const { gateway } = receivers;
    await gateway.kill();
    receivers.gateway = await startReceiver({ kind: 'dumb', store: gateway.store });
  },
};

function settingsOf(
  server: FaultServer,
  { prefix, path }: Record<'prefix' | 'path', string>,
): Record<string, string> {
  return {
    HOLDFAST_ADDRESS: server.address,
    HOLDFAST_NAMESPACE: server.namespace,
    HOLDFAST_INSTALLATION: 'claims',
    HOLDFAST_LEDGER_URL: `sqlite:${path}`,
    HOLDFAST_TASK_QUEUE_PREFIX: prefix,
    // Short, so that a worker that is away is noticed soon; a slow machine makes it no less right.
    HOLDFAST_HEARTBEAT_TIMEOUT_MS: '3000',
    HOLDFAST_START_TO_CLOSE_MS: '20000',
    HOLDFAST_LOG_LEVEL: 'warn',
  };
}
