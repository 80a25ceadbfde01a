// From what a call names as its input to the bytes that are stored and digested. They stay as
// given: what a tool's schema fills in or leaves out is for the tool's eyes only.

import * as z from 'zod';
import type { PerformCall } from '../core/activity-calls.ts';
import type { NewPayload } from '../core/decision.ts';
import {
  canonicalBytes,
  type Digest,
  digestOfBytes,
  type Json,
  jsonSchema,
  NotCanonicalError,
} from '../core/digest.ts';
import { branchOf } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import type { RunState } from '../core/run-state.ts';
import { jsonOf, readPayload } from './answers.ts';
import type { ActivityDeps } from './deps.ts';
import { goalOfBranch, modelContextOf } from './tools/model-context.ts';

export type AttemptBytes =
  | { readonly kind: 'bytes'; readonly payload: NewPayload; readonly value: Json }
  | { readonly kind: 'invalid'; readonly problem: string };

/** Ledger errors pass through; what is wrong with the input itself is an answer. */
export async function inputOf(
  deps: ActivityDeps,
  run: RunState,
  call: Pick<PerformCall, 'input' | 'position'>,
): Promise<AttemptBytes> {
  const { input } = call;
  const branch = branchOf(call.position);
  switch (input.kind) {
    case 'inline':
      return bytesOf(input.value, limits.actInputBytesMax);
    case 'stored': {
      const bytes = await deps.ledger.payload(input.payload.digest);
      if (bytes === null)
        return invalid(`payload ${input.payload.digest} is not in the ledger; store it first`);
      const payload = { digest: input.payload.digest, bytes };
      return { kind: 'bytes', payload, value: jsonOf(bytes) };
    }
    case 'plan_step':
      return planStep(deps, goalOfBranch(run, branch), input.index);
    case 'model_context': {
      const tools = (run.opened?.bindings ?? []).filter(({ tool }) =>
        deps.registry.tools.has(tool),
      );
      if (goalOfBranch(run, branch) === null) return invalid(NO_GOAL);
      const context = modelContextOf({ run, branch, turn: input.turn, tools });
      return bytesOf(context, limits.ledgerPayloadBytesMax);
    }
  }
}

const planSchema = z.object({ steps: z.array(z.object({ input: jsonSchema })) });

const NO_GOAL = 'the goal of its revision is not in the ledger';

async function planStep(
  deps: ActivityDeps,
  goal: Digest | null,
  index: number,
): Promise<AttemptBytes> {
  if (goal === null) return invalid(NO_GOAL);
  const plan = planSchema.safeParse(await readPayload(deps.ledger, goal));
  const step = plan.data?.steps[index];
  if (step === undefined) return invalid(`the goal has no plan step ${index}`);
  return bytesOf(step.input, limits.ledgerPayloadBytesMax);
}

function bytesOf(value: unknown, bytesMax: number): AttemptBytes {
  try {
    const bytes = canonicalBytes(value);
    if (bytes.length > bytesMax)
      return invalid(
        `the input has ${bytes.length} bytes, more than ${bytesMax}; pass a reference`,
      );
    return {
      kind: 'bytes',
      payload: { digest: digestOfBytes(bytes), bytes },
      value: jsonOf(bytes),
    };
  } catch (error) {
    if (error instanceof NotCanonicalError) return invalid(error.message);
    throw error;
  }
}

function invalid(problem: string): AttemptBytes {
  return { kind: 'invalid', problem };
}
