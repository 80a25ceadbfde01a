#!/usr/bin/env node
// The `holdfast` command.

import { readFile } from 'node:fs/promises';
import { createClient } from './client.ts';
import { main } from './main.ts';

const chunksOf = async (stream: AsyncIterable<Uint8Array>) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/** `package.json` is above this file: one folder up in the sources, two in `dist`. */
async function packageVersion(): Promise<string> {
  for (const above of ['../package.json', '../../package.json']) {
    const text = await readFile(new URL(above, import.meta.url), 'utf8').catch(() => null);
    const parsed = text === null ? {} : (JSON.parse(text) as { name?: string; version?: string });
    if (parsed.name === 'holdfast' && parsed.version !== undefined) return parsed.version;
  }
  throw new Error('the package.json of holdfast is not where the program was installed');
}

process.exitCode = await main(process.argv.slice(2), {
  env: process.env,
  version: await packageVersion(),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  readFile,
  readInput: () => chunksOf(process.stdin),
  connect: (config) => createClient({ config }),
});
