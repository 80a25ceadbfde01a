// A run's world for tests of the client: a ledger of its own, in-process workers on queues of their
// own, and tools that a test holds, loses or lets go.
//
// INV-1 close() lets every held call go, stops the workers, closes ledger and connections, and
//       removes the directory.

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
// The worker loads its payload converter by `require`, and here that is a TypeScript file.
import 'tsx/cjs';
import { Client, Connection } from '@temporalio/client';
import * as z from 'zod';
import { defineTool } from '../../activities/index.ts';
import type { ToolDefinition } from '../../activities/tool.ts';
import { createClient, type HoldfastClient } from '../../client/client.ts';
import { type Config, configFrom } from '../../core/config.ts';
import type { Ledger } from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import {
  type CreateWorkersOptions,
  createWorkers,
  type Workers,
} from '../../workers/create-workers.ts';
import { createLog } from '../../workers/log.ts';
import type { TestServer } from './global-server.ts';

export interface ClientStage {
  readonly config: Config;
  readonly ledger: Ledger;
  /** With the ledger. */
  readonly client: HoldfastClient;
  /** To do what an operator does. */
  readonly temporal: Client;
  /** How often `note` acted, by its text. */
  readonly notes: Map<string, number>;
  /** Lets the calls of `hold` go, also later ones. */
  readonly release: () => void;
  /** Another client; `ledger: null` has no access to the ledger. */
  clientWith(options: {
    readonly ledger?: Ledger | null;
    /** Gets the connection first, to listen on it or to lose replies. */
    readonly tap?: (connection: Connection) => void;
  }): Promise<HoldfastClient>;
  startWorkers(): Promise<void>;
  stopWorkers(): Promise<void>;
  close(): Promise<void>;
}

export async function openClientStage(
  server: TestServer,
  bundlePath: string,
): Promise<ClientStage> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-client-'));
  const path = `${directory}/ledger.db`;
  const ledger = await openSqliteLedger({ path, create: true });
  const config = configFrom({
    HOLDFAST_ADDRESS: server.address,
    HOLDFAST_NAMESPACE: server.namespace,
    HOLDFAST_INSTALLATION: 'client-test',
    HOLDFAST_LEDGER_URL: `sqlite:${path}`,
    HOLDFAST_TASK_QUEUE_PREFIX: `client-${randomUUID()}`,
    HOLDFAST_LOG_LEVEL: 'error',
  });
  const notes = new Map<string, number>();
  let letGo: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const tools = toolsOf(notes, released);
  const closers: (() => Promise<unknown>)[] = [];
  const crew = crewOf({ config, tools, ledger, workflowBundle: { codePath: bundlePath } });
  const clientWith: ClientStage['clientWith'] = async (options) => {
    const connection = await Connection.connect({ address: server.address });
    options.tap?.(connection);
    const given = options.ledger === undefined ? ledger : options.ledger;
    const client = await createClient({
      config: { ...config, ...(given === null ? { ledger: null } : {}) } as Config,
      connection,
      ...(given === null ? {} : { ledger: given }),
    });
    closers.push(
      () => client.close(),
      () => connection.close(),
    );
    return client;
  };
  const connection = await Connection.connect({ address: server.address });
  closers.push(() => connection.close());
  return {
    config,
    ledger,
    temporal: new Client({ connection, namespace: server.namespace }),
    client: await clientWith({}),
    notes,
    release: letGo,
    clientWith,
    startWorkers: crew.start,
    stopWorkers: crew.stop,
    close: async () => {
      letGo();
      await crew.stop();
      for (const close of closers) await close();
      await ledger.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function crewOf(options: CreateWorkersOptions) {
  const log = createLog({ level: 'error', write: () => undefined });
  let working: { workers: Workers; run: Promise<void> } | null = null;
  return {
    start: async () => {
      const workers = await createWorkers({ ...options, log });
      working = { workers, run: workers.run() };
      await workers.started;
    },
    stop: async () => {
      working?.workers.shutdown();
      await working?.run;
      working = null;
    },
  };
}

/** `ledger` with another `transact`. */
export function ledgerWith(ledger: Ledger, transact: Ledger['transact']): Ledger {
  return {
    identity: ledger.identity,
    transact,
    read: (runId) => ledger.read(runId),
    facts: (runId, range) => ledger.facts(runId, range),
    payload: (digest) => ledger.payload(digest),
    runs: (limit) => ledger.runs(limit),
    close: () => ledger.close(),
  };
}

const DEADLINE_MS = 60_000;
const POLL_MS = 25;

/** Polls until `check` says yes. Throws naming what did not happen. */
export async function eventually(what: string, check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`not within ${DEADLINE_MS} ms: ${what}`);
    await pause(POLL_MS);
  }
}

type Declared = Pick<ToolDefinition<{ text: string }, string>, 'approval' | 'reserve'>;

const oneRequest = {
  kind: 'known',
  usage: { requests: 1, inputTokens: 0, outputTokens: 0 },
} as const;

function toolsOf(notes: Map<string, number>, released: Promise<void>) {
  const input = z.strictObject({ text: z.string() });
  const acted = (text: string) => notes.set(text, (notes.get(text) ?? 0) + 1);
  const tool = (name: string, reply: (text: string) => Promise<void>, more: Declared = {}) =>
    defineTool({
      ...more,
      name,
      version: '1',
      description: `${name}.`,
      input,
      execute: async ({ text }, attempt) => {
        attempt.beforeSend();
        acted(text);
        await reply(text);
        const cost = more.reserve === undefined ? {} : { cost: oneRequest };
        return { kind: 'executed', result: text, externalId: `note-${text}`, ...cost };
      },
    });
  return {
    note: tool('note', async () => undefined),
    hold: tool('hold', () => released),
    lose: tool('lose', () => Promise.reject(new Error('the connection broke'))),
    ask: tool('ask', async () => undefined, { approval: 'always' }),
    bill: tool('bill', async () => undefined, { reserve: { requests: 1 } }),
  };
}
