// The binding check: is the tool registered here the one that was decided on?

import type { PerformCall } from '../core/activity-calls.ts';
import type { NewPayload } from '../core/decision.ts';
import type { Json } from '../core/digest.ts';
import type { ProposedCall } from '../core/fact-fields.ts';
import type { ToolPolicy } from '../core/tool-policy.ts';
import type { Ledger } from '../ledger/port.ts';
import { readPayload } from './answers.ts';
import type { ActivityDeps } from './deps.ts';
import type { InputCheck } from './registry.ts';
import type { Attempt } from './tool.ts';
import { modelContextSchema } from './tools/model-context.ts';

/**
 * What an execution came to: the adapter's settlement, not yet checked, and a model's proposals.
 */
export interface Performed {
  readonly settlement: unknown;
  readonly calls: readonly ProposedCall[];
  readonly payloads: readonly NewPayload[];
}

export interface BoundTool {
  readonly policy: ToolPolicy;
  check(value: Json): Promise<InputCheck>;
  /** Throws where nobody knows what happened. */
  execute(input: unknown, attempt: Attempt): Promise<Performed>;
}

export type Binding =
  | { readonly kind: 'bound'; readonly tool: BoundTool }
  | { readonly kind: 'changed'; readonly detail: string };

export function bind(deps: ActivityDeps, call: PerformCall): Binding {
  const { tool: name, digest, version } = call.binding;
  const found = call.replay === 'rebuy' ? boundModel(deps) : boundTool(deps, name);
  if (found === null) return changed(`${name} is not registered at this worker`);
  const { binding, replay } = found.policy;
  if (binding.digest !== digest)
    return changed(`${name} ${version} was decided on; here is ${binding.version}, another one`);
  if (replay !== call.replay)
    return changed(`${name} was decided on as ${call.replay}; here it is ${replay}`);
  return { kind: 'bound', tool: found };
}

function changed(detail: string): Binding {
  return { kind: 'changed', detail };
}

function boundTool({ registry }: ActivityDeps, name: string): BoundTool | null {
  const tool = registry.tools.get(name);
  if (tool === undefined) return null;
  return {
    policy: tool.policy,
    check: (value) => tool.check(value),
    execute: async (input, attempt) => ({
      settlement: await tool.execute(input, attempt),
      calls: [],
      payloads: [],
    }),
  };
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
    execute: (input, attempt) =>
      model.ask(modelContextSchema.parse(input), attempt, payloadReader(ledger)),
  };
}

function payloadReader(ledger: Ledger) {
  return (digest: Parameters<Ledger['payload']>[0]) => readPayload(ledger, digest);
}
