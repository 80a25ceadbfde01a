// Ends the run in the ledger. Only `run_ended` ends a run; a workflow that closes without it needs
// `resume`.

import { condition, sleep } from '@temporalio/workflow';
import type { EndRunCall } from '../core/activity-calls.ts';
import { afterEnd } from '../core/after-end.ts';
import { fullJitter, infraBackoff } from '../core/backoff.ts';
import type { End } from '../core/fact-fields.ts';
import type { RunResult } from '../core/outcome.ts';
import { workflowFailure } from './failures.ts';
import { askAboutLeftOpen } from './left-open.ts';
import { type OpenCall, rereadAuthority } from './opening.ts';
import { settleConsumed } from './predecessors.ts';
import { allHandled, ask, openedOf, pinOf, type Session } from './session.ts';

export interface Ending {
  readonly end: End;
  readonly answer: EndRunCall['answer'];
  /** Of the goal that was followed, where there can be another. */
  readonly goalRevision?: number;
}

const REFUSALS_MAX = 20;

/** Throws an ApplicationFailure where the ledger lets nobody end the run from here. */
export async function endSession(
  session: Session,
  open: OpenCall,
  ending: Ending,
): Promise<RunResult | 'goal_stale'> {
  session.phase = 'ending';
  session.show();
  // A command that was accepted is recorded before the end; what comes later finds a run that
  // ended.
  await condition(() => allHandled(session));
  let end = endNow(session, ending.end);
  for (let refusals = 1; refusals <= REFUSALS_MAX && session.result === null; refusals++) {
    const reply = await ask(session, 'endRun', endCall(session, end, ending), 'end the run');
    if (reply.kind === 'ended') session.result = reply.result;
    else {
      const next = afterEnd(reply.verdict);
      if (next.kind === 'leave_open') throw notEnded(session, `${reply.verdict}: ${reply.detail}`);
      if (next.kind === 'follow_goal') return goalStale(session, open);
      if (next.kind === 'end_as') end = { kind: 'stopped', reason: next.reason };
      if (next.kind === 'wait') await sleep(fullJitter(infraBackoff, refusals, Math.random()));
      if (next.kind === 'reread_authority') await reread(session, open);
      if (next.kind === 'settle_predecessors') {
        const before = await settleConsumed(
          session,
          openedOf(session).consumption.decide(),
          'the end of the run',
        );
        if (before === 'blocked') end = { kind: 'ended_with_unknown' };
      }
      end = endNow(session, end);
    }
  }
  if (session.result === null) throw notEnded(session, `refused ${REFUSALS_MAX} times`);
  return ended(session, session.result);
}

/** Handlers that came while the ledger was written may still be at work. */
async function ended(session: Session, result: RunResult): Promise<RunResult> {
  await askAboutLeftOpen(session, result);
  session.phase = 'ended';
  session.show();
  await condition(() => allHandled(session));
  return result;
}

function endNow({ stop }: Session, end: End): End {
  return stop === null ? end : { kind: 'stopped', reason: stop };
}

function endCall(session: Session, end: End, { answer, goalRevision }: Ending): EndRunCall {
  const { authority, consumption } = openedOf(session);
  const followed = goalRevision === undefined || goalRevision === 1 ? {} : { goalRevision };
  return {
    ...followed,
    runId: session.runId,
    end,
    epoch: authority.epoch,
    pin: pinOf(session),
    consumes: consumption.decide().consumes,
    answer,
  };
}

async function goalStale(session: Session, open: OpenCall): Promise<RunResult | 'goal_stale'> {
  if (!session.amendable) throw notEnded(session, 'its goal was amended, and it has but one');
  await reread(session, open);
  session.phase = 'running';
  return session.result === null ? 'goal_stale' : ended(session, session.result);
}

async function reread(session: Session, open: OpenCall): Promise<void> {
  const found = await rereadAuthority(session, open);
  if (found === 'lost') throw notEnded(session, 'another claim holds it');
  if (found !== 'open') session.result = found;
}

function notEnded({ runId }: Session, why: string) {
  return workflowFailure(
    'HoldfastRunNotEnded',
    `run ${runId} could not be ended in the ledger (${why}); ` +
      `look with "holdfast state ${runId}", then "holdfast resume ${runId}"`,
  );
}
