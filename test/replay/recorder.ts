// The world that histories are recorded in: a server, a receiver process, a ledger and workers.
//
// INV-1 close() stops all of them and removes the directory.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Model } from '../../activities/index.ts';
import { createClient, type HoldfastClient } from '../../client/client.ts';
import { configFrom } from '../../core/config.ts';
import type { Ledger } from '../../ledger/port.ts';
import {
  bundleWorkflows,
  createWorkers,
  packageFile,
  startEmbeddedServer,
} from '../../workers/index.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import { type ReceiverProcess, startReceiver } from '../support/receiver-process.ts';
import type { OwnServer } from '../support/workflow-stage.ts';
import { replayTools } from './tools.ts';

export interface Recorder {
  readonly client: HoldfastClient;
  readonly temporal: Client;
  readonly receiver: ReceiverProcess;
  readonly operator: Operator;
  /**
   * Whoever stores the result of this action, or the rejection of this command, next stands still
   * behind the commit.
   */
  holdBehind(id: string): { readonly stored: Promise<void>; release(): void };
  /** Of one execution, once the newest is closed. */
  historyOf(workflowId: string, execution: 'first' | 'newest'): Promise<History>;
  close(): Promise<void>;
}

export async function openRecorder(
  model: Model,
  startServer: () => Promise<OwnServer> = startEmbeddedServer,
): Promise<Recorder> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-record-'));
  const closing: (() => Promise<unknown>)[] = [
    () => rm(directory, { recursive: true, force: true }),
  ];
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    const server = await startServer();
    closing.push(server.stop);
    const receiver = await startReceiver({ faults: true });
    closing.push(receiver.stop);
    const config = configFrom({
      HOLDFAST_ADDRESS: server.address,
      HOLDFAST_NAMESPACE: server.namespace,
      HOLDFAST_INSTALLATION: 'shop',
      HOLDFAST_LEDGER_URL: `sqlite:${join(directory, 'ledger.db')}`,
      HOLDFAST_LEDGER_CREATE: 'on',
      HOLDFAST_LOG_LEVEL: 'error',
    });
    const workflowsPath = packageFile(import.meta.url, './workflows');
    const held: Held[] = [];
    const workers = await createWorkers({
      config,
      decorate: { ledger: (ledger) => holding(ledger, held) },
      model,
      tools: replayTools(receiver.url),
      workflowBundle: await bundleWorkflows({ workflowsPath }),
    });
    const ended = workers.run();
    closing.push(() => {
      workers.shutdown();
      return ended;
    });
    const client = await createClient({ config });
    closing.push(client.close);
    const connection = await Connection.connect({ address: server.address });
    closing.push(() => connection.close());
    const temporal = new Client({ connection, namespace: server.namespace });
    return {
      ...{ client, temporal, receiver, close },
      operator: operatorOf(temporal),
      holdBehind: (id) => holdIn(held, id),
      historyOf: historyFrom(temporal),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Held {
  readonly id: string;
  readonly stored: () => void;
  readonly released: Promise<void>;
}

function holdIn(held: Held[], id: string) {
  let release: () => void = () => undefined;
  let stored: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const isStored = new Promise<void>((resolve) => {
    stored = resolve;
  });
  held.push({ id, stored, released });
  return { stored: isStored, release };
}

function holding(ledger: Ledger, held: Held[]): Ledger {
  return {
    identity: ledger.identity,
    read: (runId) => ledger.read(runId),
    facts: (runId, range) => ledger.facts(runId, range),
    payload: (digest) => ledger.payload(digest),
    runs: (limit) => ledger.runs(limit),
    close: () => ledger.close(),
    async transact(look, decide) {
      let stored: string | null = null;
      const committed = await ledger.transact(look, (view) => {
        const decision = decide(view);
        for (const { body } of decision.facts) {
          if (body.kind === 'attempt_settled') stored = body.actionId;
          if (body.kind === 'command_rejected') stored = body.commandId;
        }
        return decision;
      });
      const index = held.findIndex(({ id }) => id === stored);
      const [hold] = index === -1 ? [] : held.splice(index, 1);
      hold?.stored();
      await hold?.released;
      return committed;
    },
  };
}

function historyFrom(temporal: Client) {
  return async (workflowId: string, execution: 'first' | 'newest'): Promise<History> => {
    const handle = temporal.workflow.getHandle(workflowId);
    await handle.result();
    if (execution === 'newest') return handle.fetchHistory();
    const first = (await handle.describe()).raw.workflowExecutionInfo?.firstRunId ?? '';
    return temporal.workflow.getHandle(workflowId, first).fetchHistory();
  };
}
