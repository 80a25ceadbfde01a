// Looks at an action in the ledger, closes what never entered, and may ask the receiver. Read-only
// outside, except for a closing inquiry that the receiver's contract promises. Resends nothing.

import { mayGoOn, openAttempts, outcomeOf } from '../core/action-status.ts';
import type { InquireCall, InquireReply } from '../core/activity-calls.ts';
import { pendingAsk } from '../core/approval.ts';
import { decideClosing } from '../core/doubt.ts';
import type { InquiryVerdict } from '../core/fact-fields.ts';
import { permitsNow } from '../core/finality.ts';
import { decideInquiry } from '../core/inquiry.ts';
import { questionOf } from '../core/question.ts';
import type { ActionState, RunState } from '../core/run-state.ts';
import type { Committed } from '../ledger/port.ts';
import { headOf, smallValueOf } from './answers.ts';
import type { ActivityDeps } from './deps.ts';
import { transactPinned } from './pinned.ts';
import { promisedOf } from './promised.ts';
import { type Asking, askingOf, askReceiver } from './receiver-question.ts';

export function inquireWith(deps: ActivityDeps) {
  return async (call: InquireCall): Promise<InquireReply> => {
    const { actionId, attemptIds } = call;
    for (const attemptId of attemptIds) {
      const closing = decideClosing({ actionId, attemptId });
      await transactPinned(deps.ledger, call, { actionId, attemptId }, closing);
    }
    let committed = await look(deps, call);
    let verdict: InquiryVerdict | null = null;
    const asking = askingOf(deps, committed);
    if (call.mode === 'ask' && asking !== null) {
      const answer = await askReceiver(deps, asking);
      verdict = answer.verdict;
      await transactPinned(deps.ledger, call, { actionId }, decideInquiry(answer));
      committed = await look(deps, call);
    }
    return replyOf(deps, call, { committed, asking, verdict });
  };
}

type Looked = Committed<ActionState | undefined>;

/** Ledger time comes with it. */
function look({ ledger }: ActivityDeps, call: InquireCall): Promise<Looked> {
  const { actionId } = call;
  return transactPinned(ledger, call, { actionId }, (view) => ({
    reply: view.run.actions.get(actionId),
    facts: [],
  }));
}

interface Inquired {
  readonly committed: Looked;
  readonly asking: Asking | null;
  readonly verdict: InquiryVerdict | null;
}

async function replyOf(
  deps: ActivityDeps,
  { wantsValue }: InquireCall,
  { committed, asking, verdict }: Inquired,
): Promise<InquireReply> {
  const { run, reply: action, at } = committed;
  const asks = pendingAsk(run, action, at);
  const outcome = action === undefined ? null : outcomeOf(action);
  return {
    outcome,
    openAttempts: action === undefined ? [] : openIdsOf(action),
    permitted: action !== undefined && permitsNow(action).length > 0,
    disputed: action?.disputed ?? false,
    abandoned: action?.abandoned ?? false,
    recordVersion: action?.recordVersion ?? 0,
    verdict,
    canAsk: asking !== null,
    ...(canGoOn(deps, committed) ? { continuable: true as const } : {}),
    ...(asks === null ? {} : { asks }),
    question: questionFor(deps, run, action),
    ...(await smallValueOf(deps.ledger, { outcome, wantsValue })),
    ...headOf(committed),
  };
}

function canGoOn({ registry }: ActivityDeps, { reply: action, at }: Looked): boolean {
  const tool = action?.attempts[0]?.entry.binding.tool ?? '';
  return mayGoOn(action, at) && registry.tools.get(tool)?.continue !== undefined;
}

function openIdsOf(action: ActionState): string[] {
  return openAttempts(action).map(({ attemptId }) => attemptId);
}

function questionFor(deps: ActivityDeps, run: RunState, action: ActionState | undefined) {
  if (action === undefined) return null;
  return questionOf(run, action, promisedOf(deps.registry, action));
}
