// Temporal servers as children of this process: for the demo, tests and development.

import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { searchAttributes } from '../core/search-attributes.ts';
import { type ChildServer, startChildServer } from './child-server.ts';
import { freePorts, LOOPBACK } from './free-port.ts';
import { registerSearchAttributes } from './search-attributes.ts';
import { connectionTo, ServerEndedError } from './server-health.ts';
import { temporalCliBinary, timeSkippingServerBinary } from './temporal-cli.ts';

export interface EmbeddedServerOptions {
  /** File that keeps the server's state over restarts; without it everything is in memory. */
  readonly dbPath?: string;
  /** Serve the Web UI, too. Default: no. */
  readonly ui?: boolean;
  /** Default: `default`. */
  readonly namespace?: string;
  /** Default: a free one. */
  readonly port?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface EmbeddedServer {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string | null;
  readonly pid: number;
  /** Ends the server and waits until it is gone; may be called again. */
  stop(): Promise<void>;
}

export interface TimeSkippingServer {
  readonly address: string;
  readonly namespace: 'default';
  readonly pid: number;
  stop(): Promise<void>;
}

/** Free ports can be taken between our look and the server's use. */
const PORT_TRIES = 3;
/** What the CLI prints once its server listens. */
const STARTED = 'Temporal Server:';

/**
 * Starts the dev server of the Temporal CLI and waits until it answers and has our search
 * attributes. It dies with this process, even by SIGKILL. Throws when there is no CLI (naming
 * every way tried), or when the server does not start (with what it said).
 */
export async function startEmbeddedServer(
  options: EmbeddedServerOptions = {},
): Promise<EmbeddedServer> {
  const namespace = options.namespace ?? 'default';
  const binary = await temporalCliBinary(options.env ?? process.env);
  const dbPath = options.dbPath === undefined ? null : resolve(options.dbPath);
  if (dbPath !== null) await mkdir(dirname(dbPath), { recursive: true });
  return onFreePorts(options.port, async (port, uiPort) => {
    const address = `${LOOPBACK}:${port}`;
    const ui = options.ui === true ? uiPort : null;
    const server = await startChildServer(binary, devServerArgs({ port, ui, namespace, dbPath }));
    await stoppedUnless(server, async () => {
      const connection = await connectionTo(server, address, async (c) => {
        await c.workflowService.describeNamespace({ namespace });
        // On a port that is taken another server answers, for the moment until ours has ended.
        if (!server.said().includes(STARTED)) throw new Error('it has not said that it started');
      });
      // The flags below work for a new database only; an old one learns new attributes here.
      await registerSearchAttributes(connection, namespace).finally(() => connection.close());
    });
    const uiUrl = ui === null ? null : `http://${LOOPBACK}:${ui}`;
    return { address, namespace, uiUrl, pid: server.pid, stop: server.stop };
  });
}

/** Starts the test server that skips time. It knows no search attributes and keeps no state. */
export async function startTimeSkippingServer(
  options: Pick<EmbeddedServerOptions, 'port' | 'env'> = {},
): Promise<TimeSkippingServer> {
  const binary = await timeSkippingServerBinary(options.env ?? process.env);
  return onFreePorts(options.port, async (port) => {
    const address = `${LOOPBACK}:${port}`;
    const server = await startChildServer(binary, [String(port)]);
    await stoppedUnless(server, async () => {
      const connection = await connectionTo(server, address, (c) =>
        c.workflowService.getSystemInfo({}),
      );
      await connection.close();
    });
    return { address, namespace: 'default', pid: server.pid, stop: server.stop };
  });
}

interface DevServerSettings {
  readonly port: number;
  readonly ui: number | null;
  readonly namespace: string;
  readonly dbPath: string | null;
}

export function devServerArgs({ port, ui, namespace, dbPath }: DevServerSettings): string[] {
  const dynamic = {
    // The default of 20 per shard makes every hop wait up to 50 ms.
    'history.transferProcessorMaxPollRPS': 2_000,
    // An eagerly dispatched activity is lost with the reply that carries it.
    'system.enableActivityEagerExecution': false,
    'frontend.enableServerVersionCheck': false,
  };
  const ends = ['--ip', LOOPBACK, '--port', String(port), '--namespace', namespace];
  const screen =
    ui === null ? ['--headless'] : ['--ui-port', String(ui), '--ui-disable-news-fetch'];
  // WAL for speed, full sync because a run must not lose history that the ledger has seen.
  const pragmas = ['journal_mode=WAL', 'synchronous=full'];
  const store =
    dbPath === null
      ? []
      : ['--db-filename', dbPath, ...pragmas.flatMap((pragma) => ['--sqlite-pragma', pragma])];
  return [
    ...['server', 'start-dev', '--log-format', 'json', '--log-level', 'error'],
    ...ends,
    ...screen,
    ...store,
    ...Object.entries(dynamic).flatMap(([key, value]) => [
      '--dynamic-config-value',
      `${key}=${value}`,
    ]),
    ...Object.entries(searchAttributes).flatMap(([name, type]) => [
      '--search-attribute',
      `${name}=${type}`,
    ]),
  ];
}

async function stoppedUnless(server: ChildServer, ready: () => Promise<void>): Promise<void> {
  try {
    await ready();
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function onFreePorts<T>(
  named: number | undefined,
  start: (port: number, uiPort: number) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const [free = 0, uiPort = 0] = await freePorts(2);
    try {
      return await start(named ?? free, uiPort);
    } catch (error) {
      const taken = error instanceof ServerEndedError && /address already in use/i.test(error.said);
      if (!taken || named !== undefined || tries === PORT_TRIES) throw error;
    }
  }
}
