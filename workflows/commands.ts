// A run's commands. Handlers are installed before anything else, so that what came first is handled
// before anything is scheduled.

import { CancellationScope, setHandler, workflowInfo } from '@temporalio/workflow';
import { type RevokeCommand, revokeSchema } from '../core/commands.ts';
import { problemOf } from './command-problem.ts';
import {
  type Desk,
  installDesk,
  isRepeated,
  malformed,
  reject,
  rejectOtherSignals,
} from './desk.ts';
import { type RunStateAnswer, revokeSignal, stateQuery } from './messages.ts';
import { ask, type Session, stopScheduling } from './session.ts';

/** Also takes over Temporal's own cancel of the workflow: it stops the run, in order. */
export function installHandlers(session: Session): void {
  const desk = installDesk(session, null);
  setHandler(stateQuery, () => stateOf(session), {
    description: 'What the run does, waits for and has open.',
  });
  setHandler(revokeSignal, (raw) => revoke(desk, raw), {
    description: 'Stop scheduling: {id, actor, reason}. What is in flight is awaited.',
  });
  rejectOtherSignals(desk, ['revoke', 'resolve', 'lateFact']);
  onWorkflowCancel(() => cancel(desk));
}

async function revoke(desk: Desk, raw: unknown): Promise<void> {
  const parsed = revokeSchema.safeParse(raw);
  if (!parsed.success) return reject(desk, malformed('revoke', raw, problemOf(revokeSchema, raw)));
  // First of all, before the first await: from here on nothing is scheduled.
  stopScheduling(desk.session, 'revoked');
  if (await isRepeated(desk, 'revoke', parsed.data.id)) return;
  await record(desk, 'revoke', parsed.data);
}

async function cancel(desk: Desk): Promise<void> {
  stopScheduling(desk.session, 'canceled');
  const { workflowType, runId } = workflowInfo();
  const command = { id: `cancel/${runId}`, actor: 'temporal', reason: `${workflowType} canceled` };
  await record(desk, 'cancel', command);
}

async function record(
  { session }: Desk,
  kind: 'revoke' | 'cancel',
  command: RevokeCommand,
): Promise<void> {
  const { runId, pin } = session;
  const call = { kind, runId, pin, command, position: null };
  await ask(session, 'recordFacts', call, `record the ${kind}`);
}

function stateOf(session: Session): RunStateAnswer {
  const { runId, phase, stop, opened, scheduled, unknowns, waitingFor, lastRejection } = session;
  return {
    runId,
    phase,
    authRevision: opened?.authority.revisions.auth ?? 0,
    revoked: stop === 'revoked' || opened?.authority.revoked === true,
    scheduled: [...scheduled.keys()],
    unknowns: [...unknowns].map(([actionId, child]) => ({ actionId, child })),
    waitingFor,
    lastRejection,
    result: session.result,
  };
}

/** The root scope is canceled once at most; the main body runs non-cancellable beside it. */
function onWorkflowCancel(then: () => Promise<void>): void {
  void CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(then),
  );
}
