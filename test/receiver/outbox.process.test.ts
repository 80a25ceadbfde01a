// Catches: what an outbox cannot heal by itself. The sender dies by SIGKILL between delivery and
// record, and what was sent is counted at the service.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openOutbox, openStore } from '../../receiver/index.ts';
import { builtProgram } from '../support/built-program.ts';
import { startReceiver } from '../support/receiver-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const KEY = 'order-1/notice';

async function service(kind: 'reference' | 'dumb') {
  const directory = tempDir();
  const receiver = await startReceiver({ kind, store: join(directory, 'service') });
  onTestFinished(() => receiver.kill());
  const path = join(directory, 'own');
  /** What the sender printed; '' when it was killed. */
  const run = async (dies: 'before' | 'after' | 'never') => {
    const program = await builtProgram('test/support/outbox-sender.ts');
    const args = [program, path, KEY, kind, receiver.url, dies];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString('utf8');
    });
    const [code, signal] = await once(child, 'close');
    expect([code, signal]).toEqual(dies === 'never' ? [0, null] : [null, 'SIGKILL']);
    return printed.trim();
  };
  return { receiver, path, run };
}

async function look(path: string) {
  const settings = { busyTimeoutMs: 5_000, transactionMs: 30_000, tables: () => [] };
  const store = await openStore({ path }, settings);
  onTestFinished(() => store.close());
  return openOutbox({
    store,
    receivers: { service: { send: () => Promise.reject(new Error('nobody sends here')) } },
    mayStillSend: async () => ({ kind: 'yes' }),
  });
}

test('R-033 killed between delivery and record: with keys the service has 1 effect', async () => {
  const { receiver, path, run } = await service('reference');
  for (const dies of ['after', 'after'] as const) expect(await run(dies)).toBe('');
  expect(await receiver.effects()).toHaveLength(1);
  expect(await run('never')).toBe('DONE executed');
  expect(await receiver.effects()).toHaveLength(1);
  const arrivals = (await receiver.requests()).filter(({ kind }) => kind === 'execute');
  expect(arrivals.map(({ answer }) => answer)).toEqual(['executed', 'replayed', 'replayed']);
  expect(new Set(arrivals.map(({ key, digest }) => `${key} ${digest}`)).size).toBe(1);
  expect(await (await look(path)).intent(KEY)).toMatchObject({ state: 'executed', sends: 3 });
});

test('R-033 killed between delivery and record: without keys unknown, not resent', async () => {
  const { receiver, path, run } = await service('dumb');
  expect(await run('after')).toBe('');
  for (const _ of [1, 2]) expect(await run('never')).toBe('DONE unknown');
  expect(await receiver.log()).toHaveLength(1);
  const outbox = await look(path);
  const { version = 0 } = (await outbox.intent(KEY)) ?? {};
  const word = { actor: 'eve', reason: 'not in the mail box', version };
  expect(await outbox.resolve(KEY, { ...word, outcome: 'send_again' })).toMatchObject({
    kind: 'resolved',
  });
  expect(await run('never')).toBe('DONE executed');
  expect(await receiver.log()).toHaveLength(2);
});

test('R-033 killed right before delivery: without keys nobody can tell, or tries', async () => {
  const { receiver, run } = await service('dumb');
  expect(await run('before')).toBe('');
  expect(await run('never')).toBe('DONE unknown');
  expect(await receiver.log()).toEqual([]);
  const keyed = await service('reference');
  expect(await keyed.run('before')).toBe('');
  expect(await keyed.run('never')).toBe('DONE executed');
  expect(await keyed.receiver.effects()).toHaveLength(1);
});
