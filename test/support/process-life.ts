import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** True while the process exists and is not a zombie: a killed child stays one until reaped. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false; // ESRCH: gone
  }
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return status.slice(status.lastIndexOf(')') + 2, status.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return process.platform !== 'linux'; // elsewhere there is no /proc, and signal 0 has answered
  }
}

/** Resolves when the process is gone; throws after `withinMs`. */
export async function untilGone(pid: number, withinMs = 20_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (isAlive(pid)) {
    if (Date.now() > deadline) throw new Error(`process ${pid} lives after ${withinMs} ms`);
    await sleep(20);
  }
}
