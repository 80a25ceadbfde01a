// The command line, run against a client that only has what a test gives it.

import type { HoldfastClient } from '../../client/client.ts';
import { main } from '../../client/main.ts';

export interface Called {
  readonly name: string;
  readonly args: readonly unknown[];
}

const methods = [
  ...(['start', 'result', 'state', 'answer', 'question', 'distinction', 'sent'] as const),
  ...(['resolve', 'revoke', 'cancel', 'amend', 'approval', 'approve'] as const),
  ...(['deny', 'topUp', 'resume', 'inbox'] as const),
];

/** Runs the command line against a client that only has what a test gives it. */
export async function cli(
  line: readonly string[],
  fake: Partial<HoldfastClient> = {},
  files: Readonly<Record<string, string>> = {},
) {
  const calls: Called[] = [];
  const texts = { out: '', err: '' };
  const recorded =
    (name: keyof HoldfastClient) =>
    async (...args: unknown[]) => {
      calls.push({ name, args });
      const method = fake[name] as ((...given: unknown[]) => unknown) | undefined;
      if (method === undefined) throw new Error(`${name} was not expected`);
      return method(...args);
    };
  const client = {
    ...Object.fromEntries(methods.map((name) => [name, recorded(name)])),
    close: async () => undefined,
  } as unknown as HoldfastClient;
  const bytesOf = async (path: string) => {
    const text = files[path];
    if (text === undefined) throw new Error('ENOENT');
    return new TextEncoder().encode(text);
  };
  const code = await main(line, {
    env: {},
    version: '1.2.3',
    out: (text) => {
      texts.out += text;
    },
    err: (text) => {
      texts.err += text;
    },
    readFile: bytesOf,
    readInput: () => bytesOf('-'),
    connect: async () => client,
  });
  return { code, calls, ...texts };
}
