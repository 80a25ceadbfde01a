// What waits for a person: open questions, disputes, wishes that look like another one in doubt,
// approvals, budgets that are used up, and runs that need `resume`. From the open children that
// visibility lists (it lags by a moment) and from the ledger, which knows of the rest, and of
// questions whose child is gone. Needs no worker.

import { unknownIdOf } from '../core/ids.ts';
import type { Question } from '../core/question.ts';
import { waitingForPeople } from '../core/waiting.ts';
import type { Ledger } from '../ledger/port.ts';
import { UNKNOWN_ACTION } from '../workflows/messages.ts';
import { type ApprovalQuestion, approvalAsked } from './approvals.ts';
import { type DistinctQuestion, distinctionsOf } from './distinctions.ts';
import { questionIn, questionOfChild, waitingActions } from './questions.ts';
import type { Room } from './room.ts';
import { executionOf } from './temporal.ts';
import { onServer } from './temporal-errors.ts';

export interface InboxQuestion {
  readonly actionId: string;
  readonly runId: string | null;
  /** Null where the child's input could not be read. */
  readonly question: Question | null;
  /** `gone`: the child was closed while the action is still unknown; answers go to the ledger. */
  readonly child: 'open' | 'gone';
}

/** Two outcomes of it contradict each other; the ledger keeps both. */
export interface InboxDispute {
  readonly runId: string;
  readonly actionId: string;
  /** With both outcomes and an answer for each; the ledger takes it where no child is open. */
  readonly question: Question | null;
  readonly child: 'open' | 'gone';
}

/** The budget of the run did not let the action in. */
export interface InboxExhausted {
  readonly runId: string;
  readonly actionId: string;
  readonly why: string;
}

export interface Inbox {
  readonly questions: readonly InboxQuestion[];
  /** Nothing builds on these any more; only with access to the ledger. */
  readonly disputed: readonly InboxDispute[];
  /** Actions that wait for `approve` or `deny`; only with access to the ledger. */
  readonly approvals: readonly ApprovalQuestion[];
  /** What waits because of another that looks the same; only with access to the ledger. */
  readonly twins: readonly DistinctQuestion[];
  /** What waits for a `topUp`; only with access to the ledger. */
  readonly exhausted: readonly InboxExhausted[];
  /** Closed workflows without a recorded end; only with access to the ledger. */
  readonly needResume: readonly string[];
  /** More than this was there than is listed. */
  readonly truncated: boolean;
}

/** A person's list: whoever has more open questions than this has another problem first. */
const INBOX_MAX = 200;

const CHILD_PREFIX = unknownIdOf('');

export async function inboxOf(room: Room): Promise<Inbox> {
  const asked = await openChildren(room);
  const questions: InboxQuestion[] = [];
  const fromLedger = room.ledger === null ? null : await ledgerInbox(room, room.ledger, asked);
  const known = new Map(fromLedger?.questions.map((each) => [each.actionId, each]) ?? []);
  const disputed = fromLedger?.disputed ?? [];
  for (const actionId of asked) {
    // Its question asks whether it took effect at all, which is answered, twice.
    if (disputed.some((each) => each.actionId === actionId)) continue;
    const question = known.get(actionId)?.question ?? (await questionOfChild(room, actionId));
    const runId = question?.run ?? null;
    questions.push({ actionId, runId, question, child: 'open' });
  }
  for (const each of known.values()) if (each.child === 'gone') questions.push(each);
  return {
    questions: questions.slice(0, INBOX_MAX),
    disputed,
    approvals: fromLedger?.approvals ?? [],
    twins: fromLedger?.twins ?? [],
    exhausted: fromLedger?.exhausted ?? [],
    needResume: fromLedger?.needResume ?? [],
    truncated: questions.length > INBOX_MAX || fromLedger?.truncated === true,
  };
}

async function openChildren({ temporal }: Room): Promise<Set<string>> {
  const query = `WorkflowType = '${UNKNOWN_ACTION}' AND ExecutionStatus = 'Running'`;
  const found = new Set<string>();
  await onServer(temporal.server, async () => {
    for await (const { workflowId } of temporal.client.workflow.list({ query })) {
      if (workflowId.startsWith(CHILD_PREFIX)) found.add(workflowId.slice(CHILD_PREFIX.length));
      if (found.size > INBOX_MAX) break;
    }
  });
  return found;
}

async function ledgerInbox(room: Room, ledger: Ledger, asked: ReadonlySet<string>) {
  const lines = await ledger.runs(INBOX_MAX);
  const questions: InboxQuestion[] = [];
  const disputed: InboxDispute[] = [];
  const approvals: ApprovalQuestion[] = [];
  const twins: DistinctQuestion[] = [];
  const exhausted: InboxExhausted[] = [];
  const needResume: string[] = [];
  for (const line of lines) {
    const { runId } = line;
    if (!line.ended && (await executionOf(room.temporal, runId)).kind !== 'open')
      needResume.push(runId);
    if (line.inDoubt + line.disputed + line.waiting === 0) continue;
    const run = await ledger.read(runId);
    const childOf = (actionId: string) => (asked.has(actionId) ? 'open' : 'gone');
    for (const action of run.actions.values()) {
      if (!action.disputed) continue;
      const { actionId } = action;
      const question = await questionIn(ledger, run, action);
      disputed.push({ runId, actionId, question, child: childOf(actionId) });
    }
    const now = Date.now();
    const waiting = waitingForPeople(run, now);
    for (const action of waiting.approvals)
      approvals.push(...shown(approvalAsked(run, action, now)));
    for (const each of waiting.exhausted) exhausted.push({ runId, ...each });
    if (waiting.twins.length > 0) twins.push(...(await distinctionsOf(ledger, run, now)));
    for (const action of waitingActions(run)) {
      const { actionId } = action;
      const question = await questionIn(ledger, run, action);
      questions.push({ actionId, runId, question, child: childOf(actionId) });
    }
  }
  const truncated = lines.length === INBOX_MAX;
  return { questions, disputed, approvals, twins, exhausted, needResume, truncated };
}

function shown(question: ApprovalQuestion | null): ApprovalQuestion[] {
  return question === null ? [] : [question];
}
