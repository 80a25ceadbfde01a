// A Postgres server of the tests' own, in a directory of its own: never one that runs already.
//
// Owns: the directory, the process. INV-1 Loopback only; the password-less user is the tests' own.
// INV-2 Postgres refuses root, so as root it runs as the user that its package made.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, chownSync, constants, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PACKAGES = '/usr/lib/postgresql';
const READY_WITHIN_MS = 60_000;
const INSTALL = '"apt-get install postgresql" as root, or set POSTGRES_BIN to the folder of yours';

/** What a test server can do without: it never has to survive a loss of power. */
const SETTINGS = {
  fsync: 'off',
  max_connections: '200',
  shared_buffers: '32MB',
  deadlock_timeout: '200ms',
  logging_collector: 'off',
};

export interface PostgresCluster {
  /** `postgres://holdfast@127.0.0.1:port/postgres` */
  readonly url: string;
  readonly address: string;
  /** As after a loss of power: no word to those who are connected. The directory stays. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Removes everything. */
  stop(): Promise<void>;
}

/** `POSTGRES_BIN`, or the newest that Debian has installed. Throws with what to install. */
export function postgresBin(env: Readonly<Record<string, string | undefined>>): string {
  const bin = env['POSTGRES_BIN'] ?? newestOf(PACKAGES);
  try {
    for (const program of ['initdb', 'postgres']) accessSync(join(bin, program), constants.X_OK);
  } catch (cause) {
    throw new Error(`these tests need Postgres, and there is none in ${bin}: ${INSTALL}`, {
      cause,
    });
  }
  return bin;
}

function newestOf(packages: string): string {
  try {
    const versions = readdirSync(packages).map(Number).filter(Number.isInteger);
    return join(packages, String(Math.max(...versions)), 'bin');
  } catch (cause) {
    throw new Error(`these tests need Postgres, and there is no ${packages}: ${INSTALL}`, {
      cause,
    });
  }
}

interface User {
  readonly uid?: number;
  readonly gid?: number;
}

/** Whoever runs the tests; instead of root the user `postgres`. */
function serverUser(): User {
  if (process.getuid?.() !== 0) return {};
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  if (line === null) throw new Error(`Postgres does not run as root: ${INSTALL}`);
  return { uid: Number(line[1]), gid: Number(line[2]) };
}

/** Rejects with what the server wrote when it does not come up. */
export async function startPostgres(): Promise<PostgresCluster> {
  const bin = postgresBin(process.env);
  const user = serverUser();
  const directory = mkdtempSync(join(tmpdir(), 'postgres-'));
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid ?? user.uid);
  const data = join(directory, 'data');
  const setUp = ['-D', data, '-U', 'holdfast', '-A', 'trust', '-E', 'UTF8', '--locale', 'C'];
  const quiet = { ...user, cwd: directory, stdio: 'ignore' } as const;
  execFileSync(join(bin, 'initdb'), [...setUp, '--no-sync', '--no-instructions'], quiet);
  const port = await freePort();
  const launch = () => serve({ bin, data, directory, port, user });
  let server = await launch();
  const end = async (signal: NodeJS.Signals) => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill(signal);
    await gone;
  };
  return {
    url: `postgres://holdfast@127.0.0.1:${port}/postgres`,
    address: `127.0.0.1:${port}`,
    // "Immediate": its processes end at once, and it recovers at the next start.
    crash: () => end('SIGQUIT'),
    async start() {
      server = await launch();
    },
    async stop() {
      await end('SIGINT');
      await rm(directory, { recursive: true });
    },
  };
}

interface Serving {
  readonly bin: string;
  readonly data: string;
  readonly directory: string;
  readonly port: number;
  readonly user: User;
}

async function serve({ bin, data, directory, port, user }: Serving): Promise<ChildProcess> {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const place = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', directory];
  const server = spawn(join(bin, 'postgres'), [...place, ...settings], {
    ...user,
    cwd: directory,
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await untilReady(server);
  return server;
}

async function untilReady(server: ChildProcess): Promise<void> {
  let said = '';
  const deadline = setTimeout(() => server.kill('SIGQUIT'), READY_WITHIN_MS);
  await new Promise<void>((resolve, reject) => {
    const ended = () => reject(new Error(`Postgres ended before it was ready: ${said}`));
    server.once('error', reject);
    server.once('exit', ended);
    server.stderr?.on('data', (chunk: Buffer) => {
      // Read on for ever, or its pipe would fill; kept only until it is ready.
      if (said.includes('ready to accept connections')) return;
      said += chunk.toString('utf8');
      if (!said.includes('ready to accept connections')) return;
      server.off('exit', ended);
      resolve();
    });
  }).finally(() => clearTimeout(deadline));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
