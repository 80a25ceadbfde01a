// For other people's workflows: their body gets `act()`, and everything else is done around it.
//
//   import { holdfast } from 'holdfast/workflow';
//   import type { tools } from './tools.ts';
//   export { unknownAction } from 'holdfast/workflow';
//
//   export const pay = holdfast<typeof tools>().run(async ({ act }, order: Order) => {
//     const paid = await act('charge_card', { amount: order.amount });
//     return paid.kind === 'executed' ? paid.result.receipt : paid.kind;
//   });
//
// `unknownAction` has to be exported beside it: the questions are started from this workflow's
// worker. Tools are imported as types only; policy comes from the catalog that `openRun` returns.

import { workflowInfo } from '@temporalio/workflow';
import type { ToolInput, ToolResult } from '../activities/tool.ts';
import type { BudgetInput } from '../core/budget-limits.ts';
import { canonicalBytes, type Json, NotCanonicalError } from '../core/digest.ts';
import type { Principal } from '../core/fact-fields.ts';
import type { Grant } from '../core/grants.ts';
import { callPosition, isPosition, runIdProblem } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import type { ActOutcome, Outcome, RunResult } from '../core/outcome.ts';
import type { OnUnknown } from '../core/tool-policy.ts';
import { act } from './act.ts';
import { beginSession, runSession } from './body.ts';
import type { ActEnd } from './course.ts';
import type { Ending } from './ending.ts';
import { workflowFailure } from './failures.ts';
import { TICKET_MEMO } from './messages.ts';
import type { OpenCall } from './opening.ts';
import { openedOf, type Session } from './session.ts';

/** Tools by their names: `{ charge_card: defineTool({ name: 'charge_card', … }) }`. */
export type ToolSet = Readonly<Record<string, object>>;

export interface ActOptions {
  /** Position of the action in the run; default t1.c1, t2.c1 … in the order of the calls. */
  readonly name?: string;
  /** Default `hold`: wait until it is settled. `continue`: answer `unknown` at once. */
  readonly onUnknown?: OnUnknown;
}

export type Act<T extends ToolSet> = <K extends keyof T & string>(
  tool: K,
  input: ToolInput<T[K]>,
  options?: ActOptions,
) => Promise<ActOutcome<ToolResult<T[K]>>>;

export interface Holdfast<T extends ToolSet> {
  readonly runId: string;
  readonly act: Act<T>;
}

export interface HoldfastOptions {
  /** Whose run it is; default: the workflow acts for itself, in its namespace. */
  readonly principal?: Principal;
  /** Default: every tool of the installation. */
  readonly tools?: readonly string[];
  /** What it may use up; default: nothing is limited. */
  readonly budget?: BudgetInput;
  /** What it may do; default: everything its tools are for. */
  readonly grants?: readonly Grant[];
  /** `HOLDFAST_TASK_QUEUE_PREFIX` of the workers; default: from this workflow's own task queue. */
  readonly queuePrefix?: string;
}

/** `value` is null where the body did not run because the run had ended before. */
export type HoldfastResult<V> = RunResult & { readonly value: V | null };

/**
 * The workflow id is the run id. The body must be deterministic, like every workflow. Its value is
 * recorded as the run's answer: JSON, at most `limits.actInputBytesMax`; undefined records none.
 */
export function holdfast<T extends ToolSet>(options: HoldfastOptions = {}) {
  return {
    run<I, V>(
      body: (holdfast: Holdfast<T>, input: I) => Promise<V>,
    ): (input: I) => Promise<HoldfastResult<V>> {
      return (input) => runBody(options, body, input);
    },
  };
}

async function runBody<T extends ToolSet, I, V>(
  options: HoldfastOptions,
  body: (holdfast: Holdfast<T>, input: I) => Promise<V>,
  input: I,
): Promise<HoldfastResult<V>> {
  const { queuePrefix, budget } = options;
  const session = beginSession({
    continueAs: null,
    pin: null,
    onExhausted: budget?.onExhausted,
    ...(queuePrefix === undefined ? {} : { queuePrefix }),
  });
  const open = openCall(session, options, input);
  let value: V | null = null;
  const result = await runSession(session, open, async () => {
    value = await body({ runId: session.runId, act: actOf<T>(session, open) }, input);
    return { end: { kind: 'completed' }, answer: answerOf(session, value) };
  });
  return { ...result, value };
}

function openCall(session: Session, options: HoldfastOptions, input: unknown): OpenCall {
  const { runId } = session;
  const problem = runIdProblem(runId);
  if (problem !== null) throw invalid(`run id "${runId}": ${problem}`);
  const { workflowType, namespace, memo } = workflowInfo();
  const goal = { workflow: workflowType, input: input === undefined ? null : (input as Json) };
  const tooMuch = jsonProblem(goal, limits.runInputBytesMax);
  if (tooMuch !== null) throw invalid(`run ${runId}: its input ${tooMuch}`);
  const principal = options.principal ?? { user: workflowType, workspace: namespace };
  const { tools = null, budget, grants } = options;
  return {
    ...{ goal, principal, tools, ticket: ticketIn(memo) },
    ...(budget === undefined ? {} : { budget }),
    ...(grants === undefined ? {} : { grants }),
  };
}

/** From `resume`; it goes by the memo because the argument is the author's. */
function ticketIn(memo: Readonly<Record<string, unknown>> | undefined): string | null {
  const ticket = memo?.[TICKET_MEMO];
  return typeof ticket === 'string' ? ticket : null;
}

function actOf<T extends ToolSet>(session: Session, open: OpenCall): Act<T> {
  const used = new Set<string>();
  let calls = 0;
  return async (tool, input, { name, onUnknown = 'hold' } = {}) => {
    calls++;
    const position = name ?? callPosition(calls, 1);
    const at = `run ${session.runId}, ${tool} at ${position}`;
    if (!isPosition(position))
      throw invalid(`${at}: not a position; use a name such as "charge", lower case, at most 64`);
    if (used.has(position))
      throw invalid(`${at}: another call has this position; give each call its own name`);
    used.add(position);
    const policy = openedOf(session).catalog.get(tool);
    if (policy === undefined)
      throw workflowFailure(
        'HoldfastUnknownTool',
        `${at}: this installation has no such tool for the run; it has ` +
          [...openedOf(session).catalog.keys()].join(', '),
      );
    const problem = jsonProblem(input, limits.actInputBytesMax);
    if (problem !== null) throw invalid(`${at}: its input ${problem}`);
    const end = await act(session, open, {
      position,
      policy,
      onUnknown,
      input: { kind: 'inline', value: input as Json },
      wantsValue: true,
    });
    return typed(`${session.runId}.${position}`, end);
  };
}

function jsonProblem(value: unknown, bytesMax: number): string | null {
  try {
    const bytes = canonicalBytes(value).length;
    return bytes <= bytesMax
      ? null
      : `has ${bytes} bytes, more than ${bytesMax}; pass a reference instead of the content`;
  } catch (error) {
    if (error instanceof NotCanonicalError) return `is not canonical: ${error.message}`;
    throw error;
  }
}

function answerOf(session: Session, value: unknown): Ending['answer'] {
  if (value === undefined) return { kind: 'none' };
  const problem = jsonProblem(value, limits.actInputBytesMax);
  if (problem !== null)
    throw invalid(
      `run ${session.runId}: the value of its body ${problem}; its effects are recorded`,
    );
  return { kind: 'inline', value: value as Json };
}

function invalid(message: string) {
  return workflowFailure('HoldfastInvalidInput', message);
}

function typed<R>(actionId: string, end: ActEnd): ActOutcome<R> {
  if (end.kind === 'stopped') return { kind: 'stopped', actionId, reason: end.reason };
  const { outcome } = end;
  switch (outcome.kind) {
    case 'executed':
      return executed(outcome, end.value);
    case 'executed_result_missing': {
      const { reason, externalId } = outcome;
      return { kind: outcome.kind, actionId, reason, externalId };
    }
    case 'not_executed': {
      const { reason, message } = outcome;
      return { kind: outcome.kind, actionId, reason, message };
    }
    case 'partial': {
      const { parts, externalId } = outcome;
      return { kind: outcome.kind, actionId, parts, externalId };
    }
    case 'accepted':
      return { kind: outcome.kind, actionId, externalId: outcome.externalId };
    case 'unknown':
      return { kind: outcome.kind, actionId, reason: outcome.reason };
  }
}

/** The effect is recorded in any case; its result may be too large to pass history. */
function executed<R>(
  { actionId, externalId, result }: Outcome & { kind: 'executed' },
  value: Json | undefined,
): ActOutcome<R> {
  if (value !== undefined) return { kind: 'executed', actionId, result: value as R, externalId };
  const reason = `recorded as ${result.digest} (${result.bytes} bytes), not passed through history`;
  return { kind: 'executed_result_missing', actionId, reason, externalId };
}
