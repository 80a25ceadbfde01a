import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { searchAttributes } from '../../core/search-attributes.ts';
import {
  devServerArgs,
  type EmbeddedServer,
  startEmbeddedServer,
  startTimeSkippingServer,
} from '../../workers/embedded-server.ts';
import { missingSearchAttributes } from '../../workers/search-attributes.ts';
import { temporalCliBinary } from '../../workers/temporal-cli.ts';
import { isAlive, untilGone } from '../support/process-life.ts';
import { tempDir } from '../support/temp-dir.ts';

async function connected(address: string): Promise<Connection> {
  const connection = await Connection.connect({ address });
  onTestFinished(() => connection.close());
  return connection;
}

async function started(
  options: Parameters<typeof startEmbeddedServer>[0],
): Promise<EmbeddedServer> {
  const server = await startEmbeddedServer(options);
  onTestFinished(server.stop);
  return server;
}

describe('the server that all tests share', () => {
  test('it answers on loopback with our search attributes and its Web UI', async () => {
    const { address, namespace, uiUrl } = inject('temporal');
    expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(await missingSearchAttributes(await connected(address), namespace)).toEqual([]);
    const page = await fetch(uiUrl);
    expect(page.status).toBe(200);
  });
});

describe('an embedded server', () => {
  test('it is gone after stop, and stop may be called again', async () => {
    const server = await startEmbeddedServer({ namespace: 'blue' });
    expect(server).toMatchObject({ namespace: 'blue', uiUrl: null });
    expect(isAlive(server.pid)).toBe(true);
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
    await server.stop();
  });

  test('with a database file, a run survives a restart', async () => {
    const dbPath = join(tempDir(), 'new', 'temporal.db');
    const first = await started({ dbPath });
    const client = new Client({ connection: await connected(first.address) });
    const start = { taskQueue: 'nobody', workflowId: 'invoice-42' };
    await client.workflow.start('agentRun', {
      ...start,
      searchAttributes: { HoldfastState: ['running'], HoldfastUnknowns: [0] },
    });
    await first.stop();
    expect(existsSync(dbPath)).toBe(true);

    const second = await started({ dbPath });
    const again = new Client({ connection: await connected(second.address) });
    const description = await again.workflow.getHandle('invoice-42').describe();
    expect(description.status.name).toBe('RUNNING');
    expect(description.searchAttributes['HoldfastState']).toEqual(['running']);
  });

  test('after SIGKILL of the process that started it, it ends by itself', async () => {
    const script = fileURLToPath(new URL('../support/embedding-process.ts', import.meta.url));
    const parent = spawn(process.execPath, ['--import', 'tsx', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    // One short write to a pipe arrives whole.
    const [told] = (await once(parent.stdout, 'data')) as [Buffer];
    const { pid } = JSON.parse(told.toString()) as { pid: number };
    expect(isAlive(pid)).toBe(true);
    const exit = once(parent, 'exit');
    parent.kill('SIGKILL');
    await exit;
    await untilGone(pid);
  });

  test('a port that another server holds is refused with what the CLI says', async () => {
    const { address } = inject('temporal');
    const port = Number(address.split(':')[1]);
    await expect(startEmbeddedServer({ port })).rejects.toThrow(
      /ended while starting; it said: .*address already in use/s,
    );
  });

  test('a port that something mute holds is refused, too', async () => {
    const mute = createServer();
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    onTestFinished(() => void mute.close());
    const { port } = mute.address() as { port: number };
    await expect(startEmbeddedServer({ port })).rejects.toThrow(/address already in use/);
  });

  test('a database file that is none is refused with what the CLI says', async () => {
    await expect(startEmbeddedServer({ dbPath: tempDir() })).rejects.toThrow(/it said: .+/s);
  });

  test('a server that starts and is no good is stopped', async () => {
    const directory = tempDir();
    const pidFile = join(directory, 'pid');
    const real = await temporalCliBinary();
    // The real CLI, but one of our search attributes gets another type.
    const cli = join(directory, 'temporal');
    writeFileSync(
      cli,
      `#!/bin/sh
      if [ "$1" = --version ]; then exec '${real}' --version; fi
      echo $$ > '${pidFile}'
      for a; do
        shift
        if [ "$a" = HoldfastRun=Keyword ]; then a=HoldfastRun=Text; fi
        set -- "$@" "$a"
      done
      exec '${real}' "$@"\n`,
    );
    chmodSync(cli, 0o755);
    const env = { ...process.env, TEMPORAL_CLI: cli };
    await expect(startEmbeddedServer({ env })).rejects.toThrow(/another type: HoldfastRun/);
    expect(isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });

  test('its settings are those that were measured', () => {
    const args = devServerArgs({ port: 1, ui: null, namespace: 'default', dbPath: '/x.db' });
    const line = args.join(' ');
    expect(line).toContain('--sqlite-pragma journal_mode=WAL --sqlite-pragma synchronous=full');
    expect(line).toContain('history.transferProcessorMaxPollRPS=2000');
    expect(line).toContain('system.enableActivityEagerExecution=false');
    expect(line).toContain('--headless');
    for (const [name, type] of Object.entries(searchAttributes))
      expect(line).toContain(`--search-attribute ${name}=${type}`);
  });
});

describe('the time-skipping server', () => {
  test('it starts a workflow, and is gone after stop', async () => {
    const server = await startTimeSkippingServer();
    onTestFinished(server.stop);
    const client = new Client({ connection: await connected(server.address) });
    const options = { taskQueue: 'nobody', workflowId: 'invoice-42' };
    const handle = await client.workflow.start('agentRun', options);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
  });
});
