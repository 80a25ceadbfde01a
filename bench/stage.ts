// Where both sides run: one server, one receiver process, and the workers of both in this process.
//
// INV-1 close() stops workers, receiver and server and removes the directory.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import * as z from 'zod';
import { defineTool, httpReceiver } from '../activities/index.ts';
import { configFrom } from '../core/config.ts';
import type { Json } from '../core/digest.ts';
import { limits } from '../core/limits.ts';
import { startReceiver } from '../test/support/receiver-process.ts';
import {
  bundleWorkflows,
  createWorkers,
  packageFile,
  startEmbeddedServer,
  type WorkflowBundle,
} from '../workers/index.ts';
import { type Addition, OPERATION, OPERATION_VERSION, rawActivities } from './raw-step.ts';

export const queues = { guarded: 'bench-runs', raw: 'bench-raw' } as const;

export interface BenchStage {
  readonly client: Client;
  /** Effects the receiver has, by counter. */
  effects(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

interface Place {
  readonly address: string;
  readonly namespace: string;
  readonly receiverUrl: string;
  readonly ledgerPath: string;
  readonly workflowBundle: WorkflowBundle;
}

export async function openBenchStage(): Promise<BenchStage> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
  const closing = [() => rm(directory, { recursive: true, force: true })];
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    const server = await startEmbeddedServer({ dbPath: join(directory, 'temporal.db') });
    closing.push(server.stop);
    const receiver = await startReceiver();
    closing.push(receiver.stop);
    const { address, namespace } = server;
    const connection = await Connection.connect({ address });
    closing.push(() => connection.close());
    const workflowsPath = packageFile(import.meta.url, './workflows');
    const place = {
      ...{ address, namespace, receiverUrl: receiver.url },
      ledgerPath: join(directory, 'ledger.db'),
      workflowBundle: await bundleWorkflows({ workflowsPath }),
    };
    closing.push(await guardedSide(place), await rawSide(place));
    const client = new Client({ connection, namespace });
    const effects = async () => countersIn(await receiver.objects(OPERATION));
    return { client, effects, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function guardedSide(place: Place): Promise<() => Promise<void>> {
  const config = configFrom({
    HOLDFAST_ADDRESS: place.address,
    HOLDFAST_NAMESPACE: place.namespace,
    HOLDFAST_INSTALLATION: 'bench',
    HOLDFAST_LEDGER_URL: `sqlite:${place.ledgerPath}`,
    HOLDFAST_LEDGER_CREATE: 'on',
    HOLDFAST_TASK_QUEUE_PREFIX: 'bench',
    HOLDFAST_LOG_LEVEL: 'error',
  });
  const { workflowBundle } = place;
  const tools = { add: addTool(place.receiverUrl) };
  const workers = await createWorkers({ config, tools, workflowBundle });
  const ended = workers.run();
  await workers.started;
  return async () => {
    workers.shutdown();
    await ended;
  };
}

function addTool(baseUrl: string) {
  return defineTool<Addition, Json>({
    name: OPERATION,
    version: OPERATION_VERSION,
    description: 'Adds to a counter.',
    input: z.strictObject({ counter: z.string(), delta: z.int() }),
    replay: 'keyed',
    ...httpReceiver({
      baseUrl,
      operation: OPERATION,
      operationVersion: OPERATION_VERSION,
      contract: {
        scope: { receiver: 'bench', account: 'bench', workspace: 'bench', region: 'local' },
        retentionMs: limits.receiverRetentionMs,
      },
    }),
  });
}

async function rawSide(place: Place): Promise<() => Promise<void>> {
  const { address, namespace, workflowBundle } = place;
  const connection = await NativeConnection.connect({ address });
  const activities = { ...rawActivities(place.receiverUrl) };
  const options = { connection, namespace, taskQueue: queues.raw, workflowBundle, activities };
  const worker = await Worker.create(options);
  const ended = worker.run();
  return async () => {
    worker.shutdown();
    await ended;
    await connection.close();
  };
}

const countersSchema = z.object({
  counters: z.array(z.object({ name: z.string(), value: z.int() })),
});

function countersIn(objects: Json): ReadonlyMap<string, number> {
  const { counters } = countersSchema.parse(objects);
  return new Map(counters.map(({ name, value }) => [name, value]));
}
