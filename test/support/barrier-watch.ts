// What stands before and in the barrier of a fault worker: attempts that wait to be let to it, when
// each began to ask, the rule that a control leaves out, and a revocation that the ledger has not
// heard of yet.
//
// INV-1 A start is written down before the barrier asks anything: what it says is never too late.

import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod';
import type { BarrierServer, Registry } from '../../activities/index.ts';
import type { Json } from '../../core/digest.ts';
import type { Ledger } from '../../ledger/port.ts';
import { randomFrom } from './random.ts';

const POLL_MS = 5;

export const barrierWatchSchema = z.strictObject({
  /** Takes the log of starts, and the files by which a test lets go what waits. */
  directory: z.string(),
  /** `blind`: no look at pending workflow tasks. It is the control, and has to let through. */
  rule: z.enum(['real', 'blind']),
  /** Each attempt comes to the barrier up to this much later, so that lanes do not march. */
  delayMaxMs: z.int().nonnegative(),
  seed: z.int().nonnegative(),
});
export type BarrierWatch = z.infer<typeof barrierWatchSchema>;

export const startsLog = (directory: string) => join(directory, 'starts.log');
/** An attempt whose input names a counter with this beginning waits until there is such a file. */
export const HELD = 'held';
/** A revocation of the run is not recorded before there is a file of this name. */
export const recordable = (runId: string) => `recordable-${runId}`;

export interface BarrierStart {
  readonly attemptId: string;
  /** Of the clock that all processes of a machine share. */
  readonly at: bigint;
}

/** Each line that a worker has written. */
export function startsIn(text: string): readonly BarrierStart[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [at = '', attemptId = ''] = line.split(' ');
      return { at: BigInt(at), attemptId };
    });
}

export function watchedBarrier(
  server: BarrierServer,
  { directory, rule }: BarrierWatch,
): BarrierServer {
  const begun = new Set<string>();
  return {
    history: (target, deadlineMs) => server.history(target, deadlineMs),
    async describe(target, deadlineMs) {
      if (!begun.has(target.activityId)) {
        begun.add(target.activityId);
        const line = `${process.hrtime.bigint()} ${target.activityId}\n`;
        appendFileSync(startsLog(directory), line);
      }
      const answer = await server.describe(target, deadlineMs);
      if (rule === 'real' || answer.kind !== 'describe') return answer;
      return { ...answer, taskPending: false };
    },
  };
}

/** A tool's input is checked right before the barrier. */
export function heldBefore(registry: Registry, watch: BarrierWatch): Registry {
  const random = randomFrom(watch.seed);
  const tools = [...registry.tools].map(([name, tool]) => {
    const check: typeof tool.check = async (value) => {
      await pause(random() * watch.delayMaxMs);
      const counter = counterIn(value);
      if (counter.startsWith(HELD)) {
        process.stdout.write(`HELD ${counter}\n`);
        await fileThere(join(watch.directory, counter));
      }
      return tool.check(value);
    };
    return [name, { ...tool, check }] as const;
  });
  return { tools: new Map(tools) };
}

function counterIn(value: Json): string {
  return String((value as { readonly counter?: Json } | null)?.counter ?? '');
}

/** Only the barrier then stands between a revocation and an effect. */
export function deafToRevoke(ledger: Ledger, { directory }: BarrierWatch): Ledger {
  return {
    identity: ledger.identity,
    read: (runId) => ledger.read(runId),
    facts: (runId, range) => ledger.facts(runId, range),
    payload: (digest) => ledger.payload(digest),
    runs: (limit) => ledger.runs(limit),
    close: () => ledger.close(),
    async transact(look, decide) {
      const released = join(directory, recordable(look.runId));
      try {
        return await ledger.transact(look, (view) => {
          const decision = decide(view);
          const revokes = decision.facts.some(
            ({ body }) => body.kind === 'authority_changed' && body.change === 'revoke',
          );
          if (revokes && !existsSync(released)) throw new NotYetError();
          return decision;
        });
      } catch (error) {
        if (!(error instanceof NotYetError)) throw error;
        await fileThere(released);
        return ledger.transact(look, decide);
      }
    },
  };
}

class NotYetError extends Error {
  override readonly name = 'NotYetError';
}

/** Without a deadline: whoever holds it ends the process, if need be. */
async function fileThere(path: string): Promise<void> {
  while (!existsSync(path)) await pause(POLL_MS);
}
