// Records facts that widen nothing: neither barrier nor epoch, and accepted after the run's end.
// Only in the ledger that the run has seen: in another one, what is missing would look unsubmitted.

import { outcomeOf } from '../core/action-status.ts';
import type { RecordCall, RecordReply, Scheduled } from '../core/activity-calls.ts';
import { decideAuthority, type GivenCommand } from '../core/authority.ts';
import { decideDoubt, type ScheduledAs } from '../core/doubt.ts';
import { limits } from '../core/limits.ts';
import { questionOf } from '../core/question.ts';
import { type CommandReply, decideRejection, decideResolve } from '../core/resolve.ts';
import type { ActionState } from '../core/run-state.ts';
import { boundedWords } from '../core/words.ts';
import type { Committed } from '../ledger/port.ts';
import { headOf } from './answers.ts';
import { inputOf } from './attempt-input.ts';
import type { ActivityDeps } from './deps.ts';
import { transactPinned } from './pinned.ts';
import { promisedOf } from './promised.ts';

export function recordFactsWith(deps: ActivityDeps) {
  return async (call: RecordCall): Promise<RecordReply> => {
    const { ledger } = deps;
    switch (call.kind) {
      case 'doubt':
        return recordDoubt(deps, call);
      case 'resolve': {
        const { actionId } = call.command;
        return applied(
          await transactPinned(ledger, call, { actionId }, decideResolve(call.command)),
        );
      }
      case 'rejected': {
        const { commandId, name } = call;
        const why = bounded(call.why);
        return applied(
          await transactPinned(ledger, call, {}, decideRejection({ commandId, name, why })),
        );
      }
      default: {
        const { kind: verb, command, position } = call;
        const given = { verb, command } as GivenCommand;
        return applied(await transactPinned(ledger, call, {}, decideAuthority(given, position)));
      }
    }
  };
}

async function recordDoubt(
  deps: ActivityDeps,
  call: Extract<RecordCall, { kind: 'doubt' }>,
): Promise<RecordReply> {
  const { actionId, attemptId, externalId, receiptDigest = null } = call;
  const scheduled = call.scheduled && (await scheduledAs(deps, call.runId, call.scheduled));
  const why = bounded(call.why);
  const committed = await transactPinned(
    deps.ledger,
    call,
    { actionId, attemptId },
    decideDoubt({ actionId, attemptId, externalId, receiptDigest, why, scheduled }),
  );
  const { run, reply: state } = committed;
  const action: ActionState | undefined = run.actions.get(actionId);
  const asks = action !== undefined && state === 'in_doubt';
  return {
    kind: 'doubt',
    state,
    outcome: action === undefined ? null : outcomeOf(action),
    question: asks ? questionOf(run, action, promisedOf(deps.registry, action)) : null,
    ...headOf(committed),
  };
}

/** An input that cannot be read keeps no attempt from being closed. */
async function scheduledAs(
  deps: ActivityDeps,
  runId: string,
  { input, ...as }: Scheduled,
): Promise<ScheduledAs> {
  if (input === null) return { ...as, payload: null };
  const { position } = as;
  const run = await deps.ledger.read(runId);
  const read = await inputOf(deps, run, { input, position }).catch(() => null);
  return { ...as, payload: read?.kind === 'bytes' ? read.payload : null };
}

function applied(committed: Committed<CommandReply>): RecordReply {
  return { kind: 'applied', ...committed.reply, ...headOf(committed) };
}

/** Words from outside may be empty or long; a note is neither. */
function bounded(text: string): string {
  return boundedWords(text, limits.noteCharsMax) || 'no reason given';
}
