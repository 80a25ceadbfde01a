// What goes wrong in the demo, and when: three kills of the worker process and two lost replies.

import type { Child } from './child.ts';
import { armKillPoint, type KillPoint } from './kill-points.ts';
import type { Stage } from './stage.ts';

const REACHED_MS = 60_000;

interface PlannedKill {
  readonly point: KillPoint;
  /** Position of the action that is struck: the mails are worked on in the second turn. */
  readonly position: string;
  readonly words: string;
}

export const plannedKills: readonly PlannedKill[] = [
  {
    point: 'before_gate',
    position: 't2.c3',
    words: 'before the gate: nothing was sent, and the ledger can prove it',
  },
  {
    point: 'after_receiver_commit',
    position: 't2.c9',
    words: 'after the receiver committed and before the result was stored: nobody here knows',
  },
  {
    point: 'after_result',
    position: 't2.c16',
    words: 'after the result was stored and before the workflow heard of it',
  },
];

/** Its ticket is opened; the reply never arrives. */
const DROPPED_TICKET = 't2.c20';

export interface Direction {
  readonly runId: string;
  readonly stage: Stage;
  /** Called once the first worker is up. */
  readonly start: () => Promise<void>;
  readonly say: (line: string) => void;
}

export interface Kill extends PlannedKill {
  readonly pid: number;
}

/** Kills one worker after the other; resolves when the last one, that nobody kills, is up. */
export async function directKills(direction: Direction): Promise<readonly Kill[]> {
  const { runId, stage, say, start } = direction;
  await dropReplies(direction);
  const kills: Kill[] = [];
  for (const planned of plannedKills) {
    const actionId = `${runId}.${planned.position}`;
    armKillPoint(stage.paths.killPoints, { point: planned.point, actionId });
    const worker = await stage.startWorker();
    if (kills.length === 0) await start();
    kills.push(await strike(worker, planned, say));
  }
  const last = await stage.startWorker();
  say(`worker ${last.pid} is up; nobody kills this one`);
  return kills;
}

async function strike(
  worker: Child,
  planned: PlannedKill,
  say: (line: string) => void,
): Promise<Kill> {
  const { pid } = worker;
  say(`worker ${pid} is up`);
  await worker.line(`REACHED ${planned.point} `, REACHED_MS);
  await worker.kill();
  say(`SIGKILL to worker ${pid} at ${planned.position}, ${planned.words}; ${pid} is gone`);
  return { ...planned, pid };
}

async function dropReplies({ stage, runId, say }: Direction): Promise<void> {
  const fault = 'commit_then_drop_reply';
  const keyIncludes = `${runId}.${DROPPED_TICKET}`;
  await stage.tickets.arm({ fault, operation: 'open_ticket', keyIncludes });
  await stage.notices.arm({ fault });
  say(`armed: the reply about ticket ${DROPPED_TICKET} and the reply about the notice get lost`);
}
