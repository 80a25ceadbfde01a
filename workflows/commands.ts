// A run's commands. Handlers are installed before anything else, so that what came first is handled
// before anything is scheduled.

import { CancellationScope, setHandler, workflowInfo } from '@temporalio/workflow';
import { type StopCommand, stopSchema } from '../core/commands.ts';
import { problemOf } from './command-problem.ts';
import {
  type Desk,
  installDesk,
  isRepeated,
  malformed,
  reject,
  rejectOtherSignals,
} from './desk.ts';
import {
  type CommandAnswer,
  cancelSignal,
  cancelUpdate,
  type RunStateAnswer,
  revokeSignal,
  revokeUpdate,
  stateQuery,
} from './messages.ts';
import { ask, type Session, stopScheduling } from './session.ts';

/** What stops a run; each as a signal and, for callers who want the answer, as an update. */
const stops = {
  revoke: {
    signal: revokeSignal,
    update: revokeUpdate,
    reason: 'revoked',
    description: 'Stop scheduling: {id, actor, reason}. What is in flight is awaited.',
  },
  cancel: {
    signal: cancelSignal,
    update: cancelUpdate,
    reason: 'canceled',
    description: 'As revoke, and tools at work are told to stop: {id, actor, reason}.',
  },
} as const;
type Stop = keyof typeof stops;

/** Also takes over Temporal's own cancel of the workflow: it stops the run, in order. */
export function installHandlers(session: Session): void {
  const desk = installDesk(session, null);
  setHandler(stateQuery, () => stateOf(session), {
    description: 'What the run does, waits for and has open.',
  });
  installStop(desk, 'revoke');
  installStop(desk, 'cancel');
  rejectOtherSignals(desk, ['revoke', 'cancel', 'resolve', 'lateFact']);
  onWorkflowCancel(() => canceled(desk));
}

function installStop(desk: Desk, name: Stop): void {
  const { signal, update, description } = stops[name];
  setHandler(signal, async (raw) => void (await stop(desk, name, raw)), { description });
  setHandler(update, (raw) => stop(desk, name, raw), {
    description,
    validator: (raw) => {
      const problem = problemOf(stopSchema, raw);
      if (problem !== null) throw new TypeError(problem);
    },
  });
}

async function stop(desk: Desk, name: Stop, raw: unknown): Promise<CommandAnswer> {
  const parsed = stopSchema.safeParse(raw);
  if (!parsed.success) {
    const rejection = malformed(name, raw, problemOf(stopSchema, raw));
    await reject(desk, rejection);
    return { what: 'rejected', why: rejection.why };
  }
  // First of all, before the first await: from here on nothing is scheduled.
  stopScheduling(desk.session, stops[name].reason);
  const { id } = parsed.data;
  if (await isRepeated(desk, name, id))
    return { what: 'duplicate', why: `command ${id} was handled before` };
  return record(desk, name, parsed.data);
}

async function canceled(desk: Desk): Promise<void> {
  stopScheduling(desk.session, 'canceled');
  const { workflowType, runId } = workflowInfo();
  const command = { id: `cancel/${runId}`, actor: 'temporal', reason: `${workflowType} canceled` };
  await record(desk, 'cancel', command);
}

async function record({ session }: Desk, kind: Stop, command: StopCommand): Promise<CommandAnswer> {
  const { runId, pin } = session;
  const call = { kind, runId, pin, command, position: null };
  const reply = await ask(session, 'recordFacts', call, `record the ${kind}`);
  if (reply.kind !== 'applied') return { what: 'rejected', why: 'the ledger did not take it' };
  return { what: reply.what, why: reply.why };
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
