// The argument of `agentRun`, checked before anything is dispatched.

import * as z from 'zod';
import { type Budget, budgetSchema } from './budget-limits.ts';
import { canonicalBytes, jsonSchema, NotCanonicalError } from './digest.ts';
import { principalSchema } from './fact-fields.ts';
import { grantSchema } from './grants.ts';
import { branchOf, callPosition, positionSchema, runIdProblem } from './ids.ts';
import { limits } from './limits.ts';
import { MODEL_TOOL, onUnknownSchema } from './tool-policy.ts';

const planStepSchema = z.strictObject({
  name: positionSchema
    .refine((name) => branchOf(name) === 1, 'names with "b2." before them are of amended goals')
    .optional(),
  tool: z.string().min(1),
  input: jsonSchema,
  onUnknown: onUnknownSchema.optional(),
});

export const goalSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('model'),
    instructions: z.string().min(1),
    turnsMax: z.number().int().positive().max(limits.turnsMax).optional(),
  }),
  z.strictObject({
    kind: z.literal('plan'),
    steps: z.array(planStepSchema).min(1).max(limits.planStepsMax),
  }),
]);

const agentRunInputSchema = z.strictObject({
  goal: goalSchema,
  principal: principalSchema,
  tools: z.array(z.string()).nullable(),
  ticket: z.string().nullable(),
  budget: budgetSchema.optional(),
  /** Default: all of them. */
  grants: z.array(grantSchema).optional(),
});
export type CheckedRunInput = z.infer<typeof agentRunInputSchema>;

export type RunInputCheck =
  | { readonly kind: 'ok'; readonly input: CheckedRunInput }
  | { readonly kind: 'refused'; readonly message: string };

/** Of an input that nobody has checked yet: handlers come before the check. */
export function onExhaustedIn(raw: unknown): Budget['onExhausted'] {
  const parsed = z.object({ budget: budgetSchema }).safeParse(raw);
  return parsed.data?.budget.onExhausted ?? 'ask';
}

/** Each refusal names what is wrong, in which run, and what to do. */
export function checkRunInput(runId: string, raw: unknown): RunInputCheck {
  const problem = runIdProblem(runId);
  if (problem !== null) return refused(runId, problem);
  const parsed = agentRunInputSchema.safeParse(raw);
  if (!parsed.success)
    return refused(runId, `its input does not parse:\n${z.prettifyError(parsed.error)}`);
  const tooMuch = sizeProblem(raw);
  if (tooMuch !== null) return refused(runId, tooMuch);
  const inPlan = planProblem(parsed.data);
  return inPlan === null ? { kind: 'ok', input: parsed.data } : refused(runId, inPlan);
}

/** Position of the plan's step `index`. */
export function stepPosition(step: { readonly name?: string | undefined }, index: number): string {
  return step.name ?? callPosition(index + 1, 1);
}

/** The tools to pin: the stated ones, or those of the plan; null: all of the installation. */
export function pinnedTools({ goal, tools }: CheckedRunInput): readonly string[] | null {
  if (tools !== null || goal.kind === 'model') return tools;
  return [...new Set(goal.steps.map((step) => step.tool))];
}

function sizeProblem(raw: unknown): string | null {
  try {
    const bytes = canonicalBytes(raw).length;
    if (bytes <= limits.runInputBytesMax) return null;
    const most = limits.runInputBytesMax;
    return `its input has ${bytes} bytes, more than ${most}; pass references, not contents`;
  } catch (error) {
    if (error instanceof NotCanonicalError) return `its input is not canonical: ${error.message}`;
    throw error;
  }
}

/** Why a goal cannot take the place of another one in a run that has these tools, or null. */
export function goalProblem(raw: unknown, tools: readonly string[]): string | null {
  const parsed = goalSchema.safeParse(raw);
  if (!parsed.success) return `the goal does not parse:\n${z.prettifyError(parsed.error)}`;
  const goal = parsed.data;
  if (goal.kind === 'model' && !tools.includes(MODEL_TOOL))
    return 'the goal is for a model, and the run was opened without one';
  // The model is pinned like a tool, and is none: no step can call it.
  return planProblem({ goal, tools: tools.filter((tool) => tool !== MODEL_TOOL) });
}

function planProblem({
  goal,
  tools,
}: {
  readonly goal: z.infer<typeof goalSchema>;
  readonly tools: readonly string[] | null;
}): string | null {
  if (goal.kind !== 'plan') return null;
  const seen = new Map<string, number>();
  for (const [index, step] of goal.steps.entries()) {
    const position = stepPosition(step, index);
    const before = seen.get(position);
    if (before !== undefined)
      return `steps ${before} and ${index} have the same position "${position}"; name them apart`;
    seen.set(position, index);
    if (tools !== null && !tools.includes(step.tool)) {
      const known = `its tools are ${tools.join(', ')}; add it or correct the step`;
      return `step ${index} (${position}) uses the tool "${step.tool}"; ${known}`;
    }
  }
  return null;
}

function refused(runId: string, why: string): RunInputCheck {
  return {
    kind: 'refused',
    message: `run ${runId}: ${why}. Nothing was dispatched; correct it and start again`,
  };
}
