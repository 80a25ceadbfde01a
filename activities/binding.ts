// The binding check: is the tool registered here the one that was decided on?

import type { PerformCall } from '../core/activity-calls.ts';
import type { ApprovalNeed } from '../core/approval.ts';
import type { Reserve } from '../core/budget-limits.ts';
import type { NewPayload } from '../core/decision.ts';
import type { Json } from '../core/digest.ts';
import type { ProposedCall, Versions } from '../core/fact-fields.ts';
import type { RunState } from '../core/run-state.ts';
import type { ToolPolicy } from '../core/tool-policy.ts';
import type { Ledger } from '../ledger/port.ts';
import { jsonOf, readPayload } from './answers.ts';
import type { ActivityDeps } from './deps.ts';
import { messageOf } from './failures.ts';
import type { InputCheck, RegisteredTool } from './registry.ts';
import { type Attempt, type HalfDone, NotAllowedError } from './tool.ts';
import { modelContextSchema } from './tools/model-context.ts';

/**
 * What an execution came to: the adapter's settlement, not yet checked, and a model's proposals.
 */
export interface Performed {
  readonly settlement: unknown;
  readonly calls: readonly ProposedCall[];
  readonly payloads: readonly NewPayload[];
  /** Its tool reserves for its cost: one that the settlement leaves out is unknown. */
  readonly reserved?: boolean;
}

/** What an attempt brings to the gate besides its payload. */
export interface Brought {
  readonly approval: ApprovalNeed | null;
  readonly reserve?: Reserve | undefined;
  readonly versions?: Versions | undefined;
  /** Why it may not act, where its tool says so. */
  readonly denied?: string | undefined;
  readonly continues?: boolean | undefined;
  /** Id of the action that it undoes. */
  readonly compensates?: string | undefined;
  readonly undoes?: readonly string[] | undefined;
}

export interface BringAsk {
  readonly actionId: string;
  readonly payload: NewPayload;
  readonly run: RunState;
}

export interface BoundTool {
  readonly policy: ToolPolicy;
  check(value: Json): Promise<InputCheck>;
  /** Throws where what it depends on could not be looked up: then it does not come to the gate. */
  bring(ask: BringAsk): Promise<Brought>;
  /** Throws where nobody knows what happened. */
  execute(input: unknown, attempt: Attempt, halfDone: HalfDone | null): Promise<Performed>;
}

export type Binding =
  | { readonly kind: 'bound'; readonly tool: BoundTool }
  | {
      readonly kind: 'changed';
      readonly verdict: 'binding_changed' | 'policy_changed';
      readonly detail: string;
    };

export function bind(deps: ActivityDeps, call: PerformCall): Binding {
  const { tool: name, digest, version } = call.binding;
  const found = call.replay === 'rebuy' ? boundModel(deps) : boundTool(deps, name);
  if (found === null) return changed(`${name} is not registered at this worker`);
  const { binding, replay } = found.policy;
  if (binding.digest !== digest) return changed(otherThan({ name, version }, binding.version));
  if (replay !== call.replay) {
    const detail = `${name} was decided on as ${call.replay}; here it is ${replay}`;
    return { kind: 'changed', verdict: 'policy_changed', detail };
  }
  return { kind: 'bound', tool: found };
}

function otherThan(decided: { readonly name: string; readonly version: string }, here: string) {
  const { name, version } = decided;
  return here === version
    ? `${name} ${version} was decided on; the one here is another under the same version: its ` +
        'code or declaration was changed'
    : `${name} ${version} was decided on; here is ${here}`;
}

function changed(detail: string): Binding {
  return { kind: 'changed', verdict: 'binding_changed', detail };
}

function boundTool({ registry }: ActivityDeps, name: string): BoundTool | null {
  const tool = registry.tools.get(name);
  if (tool === undefined) return null;
  return {
    policy: tool.policy,
    check: (value) => tool.check(value),
    bring: (ask) => toolBrings(tool, ask),
    execute: async (input, attempt, halfDone) => ({
      settlement:
        halfDone === null || tool.continue === undefined
          ? await tool.execute(input, attempt)
          : await tool.continue(input, attempt, halfDone),
      calls: [],
      payloads: [],
      reserved: tool.reserve !== undefined,
    }),
  };
}

async function toolBrings(
  tool: RegisteredTool,
  { actionId, payload, run }: BringAsk,
): Promise<Brought> {
  const { reserve } = tool;
  const continues = tool.continue !== undefined;
  // A copy for each: what they do to it must not reach what is sent.
  const copy = async () => {
    const checked = await tool.check(jsonOf(payload.bytes));
    if (checked.kind === 'invalid') throw new Error(`${actionId}: ${checked.problem}`);
    return checked.input;
  };
  const asksByRule = tool.policy.approval !== undefined;
  const approval = asksByRule ? tool.approvalFor(await copy()) : null;
  const compensates = tool.compensates?.(await copy());
  const brought = { approval, reserve, continues, compensates, undoes: tool.undoes };
  const principal = run.opened?.principal;
  // Nothing is looked up for what the gate refuses anyway.
  const isOver = run.revoked || run.canceled || run.ended !== null;
  if (tool.versions === undefined || principal === undefined || isOver) return brought;
  try {
    const of = { runId: run.runId, actionId, principal };
    return { ...brought, versions: await tool.versions(await copy(), of) };
  } catch (error) {
    if (!(error instanceof NotAllowedError)) throw error;
    return { ...brought, denied: messageOf(error) || 'its tool does not let it act' };
  }
}

function boundModel({ model, ledger }: ActivityDeps): BoundTool | null {
  if (model === null) return null;
  return {
    policy: model.policy,
    check: async (value) => {
      const parsed = modelContextSchema.safeParse(value);
      return parsed.success
        ? { kind: 'ok', input: parsed.data }
        : { kind: 'invalid', problem: 'the stored payload is no model context' };
    },
    bring: async ({ payload, run }) => {
      if (run.budget === null) return { approval: null };
      const context = modelContextSchema.parse(jsonOf(payload.bytes));
      return { approval: null, reserve: await model.reserve(context, payloadReader(ledger)) };
    },
    execute: (input, attempt) =>
      model.ask(modelContextSchema.parse(input), attempt, payloadReader(ledger)),
  };
}

function payloadReader(ledger: Ledger) {
  return (digest: Parameters<Ledger['payload']>[0]) => readPayload(ledger, digest);
}
