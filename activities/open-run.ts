// Opens a run: goal and catalog stored, claim taken or adopted, the recorded walk returned. Passes
// the barrier, because it widens what may be done; signals handled meanwhile are in the ledger
// first.

import * as z from 'zod';
import type { OpenRunCall, OpenRunReply } from '../core/activity-calls.ts';
import { budgetSchema } from '../core/budget-limits.ts';
import { genesisBase } from '../core/consumes.ts';
import type { NewPayload } from '../core/decision.ts';
import { canonicalBytes, digestOfBytes, NotCanonicalError } from '../core/digest.ts';
import { principalSchema } from '../core/fact-fields.ts';
import { grantSchema } from '../core/grants.ts';
import { runIdProblem } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import { decideOpen, type OpenVerdict } from '../core/open-run.ts';
import { runResultOf } from '../core/run-result.ts';
import { type ToolPolicy, toolPolicySchema } from '../core/tool-policy.ts';
import { walkPage } from '../core/walk.ts';
import type { Committed } from '../ledger/port.ts';
import { headOf, readPayload } from './answers.ts';
import { passBarrier } from './barrier.ts';
import { deliveryOf } from './delivery.ts';
import type { ActivityDeps } from './deps.ts';
import { BarrierError } from './failures.ts';
import { viewOf } from './gate-entry.ts';
import { sendWindow } from './send-window.ts';

/** What is pinned for the run: the payload that `run_opened` names as its catalog. */
const catalogSchema = z.object({
  tools: z.array(toolPolicySchema),
  model: toolPolicySchema.nullable(),
});
type Catalog = z.infer<typeof catalogSchema>;

/** A workflow of somebody's own declares these in its code, where nobody has checked them. */
const declaredSchema = z.object({
  principal: principalSchema,
  budget: budgetSchema.nullable().default(null),
  grants: z.array(grantSchema).default([...grantSchema.options]),
});

export function openRunWith(deps: ActivityDeps) {
  return async (call: OpenRunCall): Promise<OpenRunReply> => {
    const delivery = deliveryOf(deps.clock, { runId: call.runId, attemptId: null });
    const problem = runIdProblem(call.runId);
    if (problem !== null) return refused('invalid', `run id "${call.runId}": ${problem}`);
    const goal = goalOf(call);
    if (typeof goal === 'string') return refused('invalid', goal);
    const declared = declaredSchema.safeParse(call);
    if (!declared.success)
      return refused('invalid', `what it declares: ${z.prettifyError(declared.error)}`);
    const catalog = catalogOf(deps, call.tools);
    if (typeof catalog === 'string') return refused('unknown_tool', catalog);
    const barrier = await passBarrier(
      { server: deps.barrier, clock: deps.clock, waitMs: deps.barrierWaitMs },
      delivery.target,
    );
    const window = sendWindow(deps.clock, barrier.askedAt, limits.barrierAgeMs);
    const { runId, firstExecutionRunId, ticket, pin } = call;
    const ask = {
      ...{ goal, firstExecutionRunId, ticket, pin, ...declared.data },
      catalog: payloadOf(catalog),
      bindings: policiesOf(catalog).map(({ binding }) => binding),
      scope: deps.scope,
      owner: deps.owner,
    };
    const committed = await deps.ledger.transact(
      { runId, ...(pin === null ? {} : { pin: pin.head }) },
      (view) => decideOpen({ ...ask, barrier: viewOf(barrier, window) })(view),
    );
    return replyOf(deps, call, { committed, barrierSaid: whyOf(barrier.verdict) });
  };
}

function whyOf(verdict: { readonly kind: string; readonly why?: string }): string {
  return verdict.why ?? 'its answer was too old at the gate';
}

interface Opening {
  readonly committed: Committed<OpenVerdict>;
  readonly barrierSaid: string;
}

async function replyOf(
  deps: ActivityDeps,
  call: OpenRunCall,
  { committed, barrierSaid }: Opening,
): Promise<OpenRunReply> {
  const { run, reply } = committed;
  switch (reply) {
    case 'ended':
      if (run.ended === null) throw new Error(`${call.runId}: ended without run_ended`);
      return { kind: 'ended', result: runResultOf(run, run.ended) };
    case 'attempt_not_current':
    case 'authority_unavailable':
      throw new BarrierError(`${call.runId}: not opened: ${barrierSaid}`);
    case 'other_goal':
      return refused(reply, `run "${call.runId}" exists with another goal; choose another run id`);
    case 'needs_resume':
      return refused(
        reply,
        `run "${call.runId}" was left by an earlier execution; use "holdfast resume ${call.runId}"`,
      );
    case 'ledger_mismatch':
      return refused(reply, `${committed.ledger.id} is not the ledger that this run has used`);
    case 'open':
      return opened(deps, call, committed);
  }
}

async function opened(
  deps: ActivityDeps,
  call: OpenRunCall,
  committed: Committed<OpenVerdict>,
): Promise<OpenRunReply> {
  const { run } = committed;
  if (run.opened === null) throw new Error(`${call.runId}: open without run_opened`);
  // The pinned catalog, not today's: a worker with other tools must not change the run's policy.
  const pinned = catalogSchema.parse(await readPayload(deps.ledger, run.opened.catalog.digest));
  const page = walkPage(run, call.after);
  const newest = run.amendedGoals.at(-1);
  return {
    kind: 'open',
    catalog: pinned.tools,
    model: pinned.model,
    walk: page.entries,
    walkNext: page.next,
    base: genesisBase(run.runId),
    ...(newest === undefined ? {} : { amended: await readPayload(deps.ledger, newest.digest) }),
    ...headOf(committed),
  };
}

function goalOf(call: OpenRunCall): NewPayload | string {
  try {
    const goal = payloadOf(call.goal);
    const most = limits.runInputBytesMax;
    return goal.bytes.length <= most
      ? goal
      : `the goal has ${goal.bytes.length} bytes, more than ${most}; pass references`;
  } catch (error) {
    if (error instanceof NotCanonicalError) return `the goal: ${error.message}`;
    throw error;
  }
}

function catalogOf({ registry, model }: ActivityDeps, names: readonly string[] | null) {
  const wanted = names ?? [...registry.tools.keys()];
  const tools: ToolPolicy[] = [];
  for (const name of wanted) {
    const tool = registry.tools.get(name);
    if (tool === undefined)
      return `tool "${name}" is not registered here; known: ${wordsOf(registry.tools.keys())}`;
    tools.push(tool.policy);
  }
  return { tools, model: model?.policy ?? null };
}

function wordsOf(names: Iterable<string>): string {
  return [...names].join(', ') || 'none';
}

function policiesOf({ tools, model }: Catalog): readonly ToolPolicy[] {
  return model === null ? tools : [...tools, model];
}

function payloadOf(value: unknown): NewPayload {
  const bytes = canonicalBytes(value);
  return { digest: digestOfBytes(bytes), bytes };
}

function refused(
  reason: Extract<OpenRunReply, { kind: 'refused' }>['reason'],
  message: string,
): OpenRunReply {
  return { kind: 'refused', reason, message };
}
