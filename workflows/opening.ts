// Opens the run in the ledger and reads its recorded walk; also re-reads the authority later.

import { workflowInfo } from '@temporalio/workflow';
import type { OpenRunCall, OpenRunReply, WalkEntry } from '../core/activity-calls.ts';
import type { RunResult } from '../core/outcome.ts';
import { type WorkflowFailureType, workflowFailure } from './failures.ts';
import { type AmendedGoal, ask, newConsumption, note, type Session } from './session.ts';

export type OpenCall = Pick<
  OpenRunCall,
  'goal' | 'principal' | 'tools' | 'ticket' | 'budget' | 'grants'
>;

export type Opening =
  | { readonly kind: 'open' }
  | { readonly kind: 'ended'; readonly result: RunResult };

/** Throws an ApplicationFailure when the ledger refuses: nothing was dispatched then. */
export async function openSession(session: Session, call: OpenCall): Promise<Opening> {
  const walk = new Map<string, WalkEntry>();
  let reply = await openRun(session, call, null);
  for (;;) {
    if (reply.kind !== 'open') return ended(session, reply);
    for (const entry of reply.walk) walk.set(entry.position, entry);
    if (reply.walkNext === null) break;
    reply = await openRun(session, call, reply.walkNext);
  }
  session.opened = {
    authority: reply.authority,
    amended: amendedIn(reply),
    catalog: new Map(reply.catalog.map((policy) => [policy.binding.tool, policy])),
    model: reply.model,
    walk,
    consumption: newConsumption(session),
  };
  note(session, reply);
  session.phase = 'running';
  session.show();
  return { kind: 'open' };
}

/** After a verdict that says that what this run knows of its authority is old. */
export async function rereadAuthority(
  session: Session,
  call: OpenCall,
): Promise<'open' | 'lost' | RunResult> {
  const reply = await openRun(session, call, null);
  if (reply.kind === 'ended') return reply.result;
  if (reply.kind === 'refused') return 'lost';
  const amended = amendedIn(reply);
  const { opened } = session;
  if (opened !== null) {
    opened.amended = amended ?? opened.amended;
    opened.authority = { ...opened.authority, epoch: reply.authority.epoch };
  }
  note(session, reply);
  return 'open';
}

function amendedIn(reply: OpenRunReply & { kind: 'open' }): AmendedGoal | null {
  if (reply.amended === undefined) return null;
  return { revision: reply.authority.revisions.goal, goal: reply.amended };
}

function openRun(session: Session, call: OpenCall, after: string | null): Promise<OpenRunReply> {
  const { runId, pin } = session;
  const { firstExecutionRunId } = workflowInfo();
  const what = after === null ? 'open the run' : `read the walk after ${after}`;
  return ask(session, 'openRun', { ...call, runId, firstExecutionRunId, pin, after }, what);
}

const failureTypes = {
  other_goal: 'HoldfastOtherGoal',
  needs_resume: 'HoldfastNeedsResume',
  unknown_tool: 'HoldfastUnknownTool',
  ledger_mismatch: 'HoldfastLedgerMismatch',
  invalid: 'HoldfastInvalidInput',
} as const satisfies Record<(OpenRunReply & { kind: 'refused' })['reason'], WorkflowFailureType>;

function ended(session: Session, reply: Exclude<OpenRunReply, { kind: 'open' }>): Opening {
  if (reply.kind === 'ended') return reply;
  throw workflowFailure(failureTypes[reply.reason], `run ${session.runId}: ${reply.message}`);
}
