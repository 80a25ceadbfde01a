// What waits because it looks like another action that is in doubt, and the answer that lets it go
// on beside it: from the ledger where it can be read, else from what the run itself says.

import { doubtOf } from '../core/action-status.ts';
import type { ResolveCommand } from '../core/commands.ts';
import type { Digest } from '../core/digest.ts';
import { distinctTo } from '../core/paste.ts';
import { followsOf } from '../core/resolution-verbs.ts';
import type { RunState } from '../core/run-state.ts';
import { type Twin, waitingForPeople } from '../core/waiting.ts';
import type { Ledger } from '../ledger/port.ts';
import { liveState } from './live-state.ts';
import { runOfAction } from './resolution.ts';
import type { Room } from './room.ts';

export interface DistinctQuestion {
  readonly question: string;
  readonly run: string;
  readonly actionId: string;
  /** The action in doubt; settled, it holds nobody back any more either. */
  readonly twin: string;
  /** Name of the signal (or update) to the run that takes `answer`. */
  readonly signal: 'resolve';
  /** Complete but for who says so and why. */
  readonly answer: ResolveCommand;
  readonly follows: Readonly<Record<string, string>>;
  readonly evidence: {
    readonly tool: string;
    /** Digest of what would be sent; null: only the ledger tells. */
    readonly payloadDigest: Digest | null;
  };
}

/** Null where the action waits for none that looks the same. */
export async function currentDistinction(
  room: Room,
  runId: string,
  actionId: string,
): Promise<DistinctQuestion | null> {
  if (room.ledger !== null) {
    const asked = await distinctionsOf(room.ledger, await room.ledger.read(runId), Date.now());
    return asked.find((each) => each.actionId === actionId) ?? null;
  }
  const live = await liveState(room, runId);
  const waiting = live?.twins?.find((each) => each.actionId === actionId);
  if (waiting === undefined) return null;
  const { tool, twin, recordVersion } = waiting;
  return questionAbout({ runId, actionId, twin, recordVersion }, { tool, payloadDigest: null });
}

/** Of the run; not those whose other one has been settled since. */
export async function distinctionsOf(
  ledger: Ledger,
  run: RunState,
  now: number,
): Promise<readonly DistinctQuestion[]> {
  const { twins } = waitingForPeople(run, now);
  const asked: DistinctQuestion[] = [];
  for (const each of twins) if (await isInDoubt(ledger, each)) asked.push(askedAbout(run, each));
  return asked;
}

async function isInDoubt(ledger: Ledger, { twin }: Twin): Promise<boolean> {
  const runId = runOfAction(twin);
  const other = runId === null ? undefined : (await ledger.read(runId)).actions.get(twin);
  return other !== undefined && doubtOf(other) === 'in_doubt';
}

function askedAbout({ runId }: RunState, { action, twin }: Twin): DistinctQuestion {
  const { actionId, recordVersion, refusals } = action;
  const { tool = null, payload = null } = refusals.at(-1) ?? {};
  return questionAbout(
    { runId, actionId, twin, recordVersion },
    { tool: tool ?? '(no tool)', payloadDigest: payload?.digest ?? null },
  );
}

interface Waiting {
  readonly runId: string;
  readonly actionId: string;
  readonly twin: string;
  readonly recordVersion: number;
}

function questionAbout(
  { runId, actionId, twin, recordVersion }: Waiting,
  evidence: DistinctQuestion['evidence'],
): DistinctQuestion {
  const answer = distinctTo(actionId, twin, recordVersion);
  return {
    question:
      `Is ${evidence.tool} (${actionId}) another wish than ${twin}, which looks the same and ` +
      'is in doubt?',
    run: runId,
    ...{ actionId, twin, answer, evidence },
    signal: 'resolve',
    follows: followsOf([answer]),
  };
}
