// The tools of an installation, checked when the worker starts. Names every problem of every tool
// at once. A tool's input is parsed for its own eyes only: what is stored and digested stays as
// given.

import * as z from 'zod';
import type { ApprovalNeed } from '../core/approval.ts';
import type { Reserve } from '../core/budget-limits.ts';
import { contractSchema, levelOf } from '../core/contract.ts';
import { canonicalJson, type Digest, digestOf, digestOfBytes, type Json } from '../core/digest.ts';
import type { Versions } from '../core/fact-fields.ts';
import { limits } from '../core/limits.ts';
import { type ToolPolicy, toolPolicySchema } from '../core/tool-policy.ts';
import { boundedWords } from '../core/words.ts';
import { approvalDeclared, withCompensation } from './compensation.ts';
import { reportChangeable, reportContradictions } from './contradictions.ts';
import { approvalOf, type Report, reserveOf, versionsOf } from './declarations.ts';
import type { ToolDefinition, VersionsFor } from './tool.ts';

/** Any tool: its own types matter to its author and to workflows, not to the registry. */
export type AnyTool = ToolDefinition<unknown, unknown>;
export type Tools = Readonly<Record<string, AnyTool>>;

export type InputCheck =
  /** As the tool sees it: defaults filled in, unknown fields gone. */
  | { readonly kind: 'ok'; readonly input: unknown }
  | { readonly kind: 'invalid'; readonly problem: string };

export interface RegisteredTool {
  readonly policy: ToolPolicy;
  readonly inputSchema: Json;
  readonly execute: AnyTool['execute'];
  readonly continue: AnyTool['continue'];
  readonly inquire: AnyTool['inquire'];
  readonly fence: AnyTool['fence'];
  /** Undefined: it undoes nothing. */
  readonly compensates?: ((input: unknown) => string) | undefined;
  /** Names of the tools whose effects it undoes. */
  readonly undoes?: readonly string[] | undefined;
  readonly reserve?: Reserve | undefined;
  check(value: Json): Promise<InputCheck>;
  /** Null: nobody has to approve this input. Never throws. */
  approvalFor(input: unknown): ApprovalNeed | null;
  /** Undefined: its attempts depend on nothing that it can name. */
  readonly versions?: ((input: unknown, of: VersionsFor) => Promise<Versions>) | undefined;
}

export interface Registry {
  /** By name, in the order of declaration. */
  readonly tools: ReadonlyMap<string, RegisteredTool>;
}

/** What a tool that names no times of its own gets. */
export interface ToolDefaults {
  readonly startToCloseMs: number;
  readonly heartbeatTimeoutMs: number;
  readonly scheduleToStartMs: number;
}

export interface ToolProblem {
  readonly tool: string;
  readonly field: string;
  readonly problem: string;
}

export class RegistryError extends Error {
  override readonly name = 'RegistryError';
  readonly problems: readonly ToolProblem[];
  constructor(problems: readonly ToolProblem[]) {
    const lines = problems.map((p) => `  tool "${p.tool}", ${p.field}: ${p.problem}`);
    super(
      `${problems.length} problem(s) in the tools; mend them and start again\n${lines.join('\n')}`,
    );
    this.problems = problems;
  }
}

/** Throws RegistryError with every problem of every tool. */
export function createRegistry(tools: Tools, defaults: ToolDefaults): Registry {
  const problems: ToolProblem[] = [];
  const registered = new Map<string, RegisteredTool>();
  for (const [key, definition] of Object.entries(tools)) {
    const tool = registeredTool(definition, defaults, (field, problem) =>
      problems.push({ tool: definition.name || key, field, problem }),
    );
    if (key !== definition.name)
      problems.push({ tool: key, field: 'name', problem: `is "${definition.name}"; use the key` });
    if (tool !== null) registered.set(definition.name, tool);
  }
  const compensated = withCompensation(registered, tools, (tool, field, problem) =>
    problems.push({ tool, field, problem }),
  );
  if (problems.length > 0) throw new RegistryError(problems);
  return { tools: compensated };
}

function registeredTool(
  definition: AnyTool,
  defaults: ToolDefaults,
  report: Report,
): RegisteredTool | null {
  const contract = contractSchema.safeParse(definition.receiver ?? {});
  for (const issue of contract.error?.issues ?? []) reportIssue(['receiver'], issue, report);
  const inputSchema = jsonSchemaOf(definition, report);
  const implementation = implementationOf(definition, report);
  if (!contract.success || inputSchema === null || implementation === null) return null;
  const { name, version } = definition;
  const approval = approvalOf(approvalDeclared(definition), report);
  const undoes = definition.compensates?.tools;
  const parts = {
    ...{ name, version, input: inputSchema, contract: contract.data, implementation },
    ...(approval.bound === undefined ? {} : { approval: approval.bound }),
    ...(undoes === undefined ? {} : { compensates: [...undoes] }),
  };
  const candidate: ToolPolicy = {
    binding: { tool: name, version, digest: digestOf(parts) },
    description: definition.description,
    replay: definition.replay ?? 'never',
    contract: contract.data,
    level: levelOf(contract.data),
    ...(approval.policy === undefined ? {} : { approval: approval.policy }),
    inquirable: definition.inquire !== undefined,
    ...(definition.continue === undefined ? {} : { continues: true as const }),
    taskQueue: definition.taskQueue ?? null,
    startToCloseMs: definition.startToCloseMs ?? defaults.startToCloseMs,
    heartbeatTimeoutMs: definition.heartbeatTimeoutMs ?? defaults.heartbeatTimeoutMs,
    scheduleToStartMs: definition.scheduleToStartMs ?? defaults.scheduleToStartMs,
    attemptsMax: definition.attemptsMax ?? limits.attemptsMax,
    attemptsDeadlineMs: definition.attemptsDeadlineMs ?? limits.attemptsDeadlineMs,
  };
  const policy = toolPolicySchema.safeParse(candidate);
  for (const issue of policy.error?.issues ?? []) report(issue.path.join('.'), issue.message);
  reportContradictions(candidate, definition, report);
  reportChangeable(contract.data, inputSchema, report);
  if (!policy.success) return null;
  return {
    policy: policy.data,
    inputSchema,
    execute: (input, attempt) => definition.execute(input, attempt),
    continue: definition.continue?.bind(definition),
    inquire: definition.inquire?.bind(definition),
    fence: definition.fence?.bind(definition),
    compensates: definition.compensates && ((input) => definition.compensates?.action(input) ?? ''),
    undoes: undoes === undefined ? undefined : [...undoes],
    reserve: reserveOf(definition.reserve, report),
    check: (value) => checkInput(definition, value),
    approvalFor: (input) => approval.needFor(input),
    versions: definition.versions && ((input, of) => versionsOf(definition, input, of)),
  };
}

/** A part is `none` or has parts of its own: the wrong one of those is named, not the whole. */
function reportIssue(at: readonly PropertyKey[], issue: z.core.$ZodIssue, report: Report): void {
  const path = [...at, ...issue.path];
  const branches = issue.code === 'invalid_union' ? issue.errors : [];
  const within = branches.find((issues) => issues.some((each) => each.path.length > 0));
  if (within === undefined) report(path.join('.'), issue.message);
  for (const each of within ?? []) reportIssue(path, each, report);
}

function jsonSchemaOf(definition: AnyTool, report: Report): Json | null {
  try {
    const schema = z.toJSONSchema(definition.input, { io: 'input', unrepresentable: 'throw' });
    const json = JSON.parse(canonicalJson(JSON.parse(JSON.stringify(schema)))) as Json;
    const secret = secretField(json, '');
    if (secret !== null)
      report(`input${secret}`, 'is marked secret; inputs are stored, pass a reference instead');
    return json;
  } catch (error) {
    report('input', `has no JSON schema: ${error instanceof Error ? error.message : error}`);
    return null;
  }
}

/** `z.string().meta({ secret: true })` or `writeOnly: true`, wherever it stands. */
function secretField(schema: Json, path: string): string | null {
  if (typeof schema !== 'object' || schema === null) return null;
  const fields = schema as { readonly [key: string]: Json };
  if (fields['secret'] === true || fields['writeOnly'] === true) return path;
  for (const [key, member] of Object.entries(fields)) {
    const found = secretField(member, key === 'properties' ? path : `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}

function implementationOf(definition: AnyTool, report: Report): Digest | null {
  const text = definition.implementation ?? Function.prototype.toString.call(definition.execute);
  if (!/\{\s*\[native code\]\s*\}$/.test(text)) return digestOfBytes(Buffer.from(text));
  report('implementation', 'is needed where execute is bound: its text does not show its code');
  return null;
}

/** An action keeps its input for ever: what is corrected is another action. */
const WHAT_TO_DO = '; correct the input in a new action';

async function checkInput(definition: AnyTool, value: Json): Promise<InputCheck> {
  const parsed = await definition.input.safeParseAsync(value);
  if (parsed.success) return { kind: 'ok', input: parsed.data };
  // On one line: terminals and the Web UI escape line breaks.
  const issues = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `at ${z.core.toDotPath(path)}: ${message}`,
  );
  const words = boundedWords(issues.join('; '), limits.noteCharsMax - WHAT_TO_DO.length);
  return { kind: 'invalid', problem: `${words}${WHAT_TO_DO}` };
}
