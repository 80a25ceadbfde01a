// What a person is asked to approve: from the ledger where it can be read, else from what the run
// itself says it waits for.

import { pendingAsk } from '../core/approval.ts';
import type { ApprovalCommand } from '../core/commands.ts';
import type { Digest } from '../core/digest.ts';
import type { Revisions, Versions } from '../core/fact-fields.ts';
import { approvalTo } from '../core/paste.ts';
import type { ActionState, RunState } from '../core/run-state.ts';
import { liveState } from './live-state.ts';
import type { Room } from './room.ts';

export interface ApprovalQuestion {
  readonly question: string;
  readonly run: string;
  readonly actionId: string;
  /** Names of the two signals (or updates) that take `answer`. */
  readonly signals: readonly ['approve', 'deny'];
  /** Complete but for who decides and why. */
  readonly answer: ApprovalCommand;
  readonly evidence: {
    readonly tool: string;
    /** Digest of what would be sent; null: only the ledger tells. */
    readonly payloadDigest: Digest | null;
    /** Under which it was asked, and has to be decided; null: only the ledger tells. */
    readonly revisions: Revisions | null;
    /** What else it depends on, as its tool names it. */
    readonly versions: Versions;
    /** How long a decision holds before the action begins; null: for ever. */
    readonly validForMs: number | null;
  };
}

/** Null when nothing of the action waits for an approval. */
export async function currentApproval(
  room: Room,
  runId: string,
  actionId: string,
): Promise<ApprovalQuestion | null> {
  if (room.ledger !== null) {
    const run = await room.ledger.read(runId);
    const action = run.actions.get(actionId);
    return action === undefined ? null : approvalAsked(run, action, Date.now());
  }
  const live = await liveState(room, runId);
  const asked = live?.approvals.find((each) => each.actionId === actionId);
  if (asked === undefined) return null;
  const { tool, bound } = asked;
  const told = { payloadDigest: null, revisions: null, versions: {}, validForMs: null };
  return questionAbout({ runId, actionId, tool, bound }, told);
}

export function approvalAsked(
  run: RunState,
  action: ActionState,
  now: number,
): ApprovalQuestion | null {
  const asks = pendingAsk(run, action, now);
  const asking = action.refusals.findLast((each) => each.asks !== undefined);
  if (asks === null || asking === undefined) return null;
  const { actionId } = action;
  const { bound, versions, validForMs } = asks;
  const tool = asking.tool ?? '(no tool)';
  const earlier = action.approvals.filter((each) => each.bound === bound).length;
  return questionAbout(
    { runId: run.runId, actionId, tool, bound, earlier },
    {
      payloadDigest: asking.payload?.digest ?? null,
      revisions: asking.revisions,
      versions,
      validForMs,
    },
  );
}

interface Asked {
  readonly runId: string;
  readonly actionId: string;
  readonly tool: string;
  readonly bound: string;
  readonly earlier?: number;
}

function questionAbout(
  { runId, actionId, tool, bound, earlier }: Asked,
  told: Omit<ApprovalQuestion['evidence'], 'tool'>,
): ApprovalQuestion {
  return {
    question: `May ${tool} (${actionId}) go ahead?`,
    run: runId,
    actionId,
    signals: ['approve', 'deny'],
    answer: approvalTo(actionId, bound, earlier),
    evidence: { tool, ...told },
  };
}
