// The rules under SIGKILL, over either store.
// Catches: an effect without its record, or a record without its effect, after a death anywhere.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { StorePlace } from '../../receiver/index.ts';
import { builtProgram } from '../support/built-program.ts';
import type { Open, Place } from './stage.ts';

const DEATHS_MAX = 30;

/** Resolves to what it printed; '' when it was killed. */
async function runAndKill(at: StorePlace, key: string, killAt: number): Promise<string> {
  const program = await builtProgram('test/receiver/crash-process.ts');
  const args = [program, JSON.stringify(at), key, String(killAt)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString('utf8');
  });
  const [code, signal] = await once(child, 'close');
  if (printed === '') expect([code, signal]).toEqual([null, 'SIGKILL']);
  return printed;
}

/** Keys of the real rows and of the records that say executed, which must be the same. */
export async function wholeKeys(place: Place): Promise<readonly unknown[]> {
  const keys = async (sql: string) => (await place.rows(sql)).map((row) => row['key']);
  const executed = await keys("SELECT key FROM operation WHERE state = 'executed' ORDER BY key");
  expect({
    tickets: await keys('SELECT key FROM ticket ORDER BY key'),
    notifications: await keys('SELECT key FROM notification ORDER BY key'),
    effects: await keys('SELECT key FROM effect ORDER BY key'),
  }).toEqual({ tickets: executed, notifications: executed, effects: executed });
  return executed;
}

/** `statements`: how many points to die at there are, so that none is left out unseen. */
export function crashRules(open: Open, statements: number): void {
  test('R-030 A4 killed before any statement, a request leaves all or nothing', async () => {
    const { receiver, place } = await open();
    let done = '';
    let killed = 0;
    while (done === '') {
      expect(killed).toBeLessThan(DEATHS_MAX);
      const key = `k${String(killed).padStart(2, '0')}`;
      done = await runAndKill(place.at, key, killed + 1);
      if (done === '') killed += 1;
      const executed = await wholeKeys(place);
      expect(executed.includes(key)).toBe(done !== '');
      // The retry after the crash: one effect under the key.
      const identity = { principal: 'u1', operation: 'open_ticket', version: '1', key };
      const answer = await receiver.execute({ ...identity, input: { subject: 'Printer' } });
      expect(answer).toMatchObject({ kind: 'executed', replayed: done !== '' });
      expect(await wholeKeys(place)).toHaveLength(killed + (done === '' ? 0 : 1));
    }
    expect(killed).toBe(statements);
  }, 300_000);
}
