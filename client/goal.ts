// Plan files, and JSON from outside in general: a person reads what is wrong, and where. What a run
// takes is decided in core/goal.ts.

import * as z from 'zod';
import { canonicalBytes, type Json, jsonSchema, NotCanonicalError } from '../core/digest.ts';
import { callPosition, positionSchema } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import { onUnknownSchema } from '../core/tool-policy.ts';
import type { Goal } from '../workflows/messages.ts';
import { ClientError, type ClientErrorCode, errorText } from './errors.ts';

const toolName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'a tool name is lower_snake_case, at most 64 characters');

const stepSchema = z.strictObject({
  name: positionSchema.optional(),
  tool: toolName,
  input: jsonSchema,
  onUnknown: onUnknownSchema.optional(),
});

const stepsSchema = z
  .array(stepSchema)
  .min(1, 'a plan needs at least one step')
  .max(limits.planStepsMax, `a plan has at most ${limits.planStepsMax} steps`)
  .superRefine((steps, context) => {
    const seen = new Map<string, number>();
    for (const [index, step] of steps.entries()) {
      const position = step.name ?? callPosition(index + 1, 1);
      const first = seen.get(position);
      if (first === undefined) seen.set(position, index);
      else
        context.addIssue({
          code: 'custom',
          path: step.name === undefined ? [index] : [index, 'name'],
          message: `"${position}" is also the position of step ${first}; give it another name`,
        });
    }
  });

const planFileSchema = z.strictObject({ steps: stepsSchema });

/** The plan in `bytes` of the file `name`. Throws ClientError `bad_plan`. */
export function planFrom(bytes: Uint8Array, name: string): Goal {
  const what = `the plan file ${name}`;
  const value = jsonFrom(bytes, { code: 'bad_plan', what });
  if (Array.isArray(value))
    throw new ClientError('bad_plan', `${what} is a list; write {"steps": [ … ]} around it`);
  const { steps } = checked(planFileSchema, value, { code: 'bad_plan', what });
  refuseNotCanonical(steps, { code: 'bad_plan', what });
  return { kind: 'plan', steps: steps as Extract<Goal, { kind: 'plan' }>['steps'] };
}

export interface Blame {
  readonly code: ClientErrorCode;
  /** Begins the message: what is wrong. */
  readonly what: string;
}

/** JSON out of bytes. A byte order mark is skipped; bad UTF-8 is refused, not replaced. */
export function jsonFrom(bytes: Uint8Array, { code, what }: Blame): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ClientError(code, `${what} is not UTF-8; save it as UTF-8`, { cause: error });
  }
  if (text.trim() === '') throw new ClientError(code, `${what} is empty; write the JSON into it`);
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `${what} is not JSON (${errorText(error)}); correct it there`;
    throw new ClientError(code, message, { cause: error });
  }
}

/** Throws ClientError with every issue and its path. */
export function checked<S extends z.ZodType>(
  schema: S,
  value: unknown,
  { code, what }: Blame,
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path, message }) => {
    const where = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
    const problem = isAbsent(value, path) ? 'missing' : message;
    return path.length === 0 ? message : `at ${where.join('').replace(/^\./, '')}: ${problem}`;
  });
  throw new ClientError(code, `${what} is not right: ${issues.join('; ')}; correct it`);
}

/** What zod says of it depends on the schema, and none of it is "missing". */
function isAbsent(value: unknown, path: readonly PropertyKey[]): boolean {
  const found = path.reduce(
    (at, key) => (at as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key],
    value,
  );
  return found === undefined;
}

function refuseNotCanonical(value: unknown, { code, what }: Blame): Uint8Array {
  try {
    return canonicalBytes(value);
  } catch (error) {
    if (!(error instanceof NotCanonicalError)) throw error;
    throw new ClientError(code, `${what} has no exact JSON form: ${error.message}`, {
      cause: error,
    });
  }
}

/** `value` as it goes through history. Throws ClientError: too large, or not plain JSON. */
export function sizedJson(value: unknown, what: string): Json {
  const bytes = refuseNotCanonical(value, { code: 'bad_input', what }).length;
  if (bytes > limits.runInputBytesMax)
    throw new ClientError(
      'input_too_large',
      `${what} has ${bytes} bytes and the most is ${limits.runInputBytesMax}; ` +
        'put large data into a file or store that a tool reads, and give its name',
    );
  return value as Json;
}
