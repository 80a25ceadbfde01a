// Catches: a receiver that is sound as long as it lives. Its process is killed between effect and
// record, by a suite that knows nothing of the two; the effects are counted in its file.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { assertContract, checkContract } from '../../../activities/contract-suite.ts';
import type { AnyTool } from '../../../activities/index.ts';
import { builtProgram } from '../../support/built-program.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { fullContract, zooTool } from '../../support/zoo-tool.ts';

test('R-030 A4 a receiver that writes effect and record apart is not keyed', async () => {
  const directory = tempDir();
  let torn = await startTorn(directory);
  onTestFinished(() => torn.kill());
  const { scope = 'none', identity = 'none', retentionMs = 'none' } = fullContract;
  const report = await checkContract({
    adapter: (baseUrl) => {
      const { inquire: _, fence: __, ...tool } = zooTool(baseUrl, { scope, identity, retentionMs });
      return tool as AnyTool;
    },
    endpoint: torn.url,
    input: (n) => ({ name: `thing ${n}` }),
    effects: async ({ input }) => linesOf(join(directory, 'effects'), JSON.stringify(input)),
    principals: [
      { user: 'ada', workspace: 'w1' },
      { user: 'bob', workspace: 'w1' },
    ],
    async restart() {
      await torn.kill();
      torn = await startTorn(directory);
      return torn.url;
    },
    kills: 4,
  });
  expect(report).toMatchObject({ declaredLevel: 'L2', level: 'L0' });
  expect(report.problems).toMatchObject([
    {
      field: 'retentionMs',
      instead: { retentionMs: 'none' },
      saw: [expect.stringContaining('2 effects')],
    },
  ]);
  expect(() => assertContract(report)).toThrow('L2 by its declaration, L0 by what was found');
});

function linesOf(path: string, line: string): number {
  if (!existsSync(path)) return 0;
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((one) => one === line).length;
}

async function startTorn(directory: string) {
  const program = await builtProgram('test/support/torn-receiver.ts');
  const child = spawn(process.execPath, [program, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await portOf(child);
  return {
    url: `http://127.0.0.1:${port}`,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function portOf({ stdout }: ChildProcess): Promise<number> {
  let text = '';
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    const ready = /^READY (.*)\n/.exec(text);
    if (ready !== null) return JSON.parse(ready[1] ?? '').port;
  }
  throw new Error(`ended before it was ready: ${text}`);
}
