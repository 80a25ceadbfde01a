// Places for ledgers in temporary directories, removed after each test.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';

const directories: string[] = [];

afterEach(async () => {
  for (const directory of directories.splice(0))
    await rm(directory, { recursive: true, force: true });
});

export async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-ledger-'));
  directories.push(directory);
  return directory;
}

export async function newPlace(): Promise<string> {
  return join(await newDirectory(), 'ledger.db');
}

/** Runs a TypeScript program of this folder with the arguments. */
export function program(name: string, ...args: string[]) {
  const path = new URL(`programs/${name}.ts`, import.meta.url).pathname;
  return { command: process.execPath, args: ['--import', 'tsx', path, ...args] };
}
