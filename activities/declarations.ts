// What a tool declares about approval, cost and what it depends on, as the gate takes it. A rule
// that cannot be told fails closed: a person is asked.

import { asyncLocalStorage } from '@temporalio/activity';
import type { ApprovalNeed } from '../core/approval.ts';
import { type Reserve, reserveSchema } from '../core/budget-limits.ts';
import { type Digest, digestOfBytes, type Json } from '../core/digest.ts';
import { type Versions, versionsSchema } from '../core/fact-fields.ts';
import { limits } from '../core/limits.ts';
import type { ToolPolicy } from '../core/tool-policy.ts';
import type { ApprovalPolicy, ReserveDeclaration, ToolDefinition, VersionsFor } from './tool.ts';

export type Report = (field: string, problem: string) => void;

export interface DeclaredApproval {
  /** Undefined: never. */
  readonly policy: Exclude<ToolPolicy['approval'], 'never'>;
  /** What of it changes the binding; undefined: nothing. */
  readonly bound: Json | undefined;
  needFor(input: unknown): ApprovalNeed | null;
}

const NEVER: DeclaredApproval = { policy: undefined, bound: undefined, needFor: () => null };

export function approvalOf(
  declared: ApprovalPolicy<unknown> | undefined,
  report: Report,
): DeclaredApproval {
  if (declared === undefined || declared === 'never') return NEVER;
  const isKnown =
    declared === 'always' ||
    (typeof declared === 'object' && ('when' in declared || declared.always));
  if (!isKnown) {
    report('approval', 'says neither never, always nor when; say one');
    return NEVER;
  }
  const options = declared === 'always' ? { always: true as const } : declared;
  const validForMs = options.validForMs ?? null;
  if (validForMs !== null && !(Number.isSafeInteger(validForMs) && validForMs > 0))
    report('approval.validForMs', 'is not a whole number of ms; leave it out for "for ever"');
  const need: ApprovalNeed = { validForMs };
  if (!('when' in options))
    return { policy: 'always', bound: { always: true, validForMs }, needFor: () => need };
  const rule = ruleDigest(options.when, report);
  return {
    policy: 'by_rule',
    bound: { when: rule, validForMs },
    needFor: (input) => (asks(options, input) ? need : null),
  };
}

/** Anything but a plain `false` asks: an error, a promise, nothing at all. */
function asks(rule: { when(input: unknown): boolean }, input: unknown): boolean {
  try {
    const answer: unknown = rule.when(input);
    // An async rule is none; what it comes to must not end the worker.
    if (answer instanceof Promise) answer.catch(() => undefined);
    return answer !== false;
  } catch {
    return true;
  }
}

function ruleDigest(when: unknown, report: Report): Digest {
  const text = typeof when === 'function' ? Function.prototype.toString.call(when) : '';
  if (text === '' || /\{\s*\[native code\]\s*\}$/.test(text))
    report('approval.when', 'is no function whose text shows its code; write it as one');
  return digestOfBytes(Buffer.from(text));
}

export function reserveOf(
  declared: ReserveDeclaration | undefined,
  report: Report,
): Reserve | undefined {
  if (declared === undefined) return undefined;
  const { requests = 0, tokens = 0, money = null, ...rest } = declared;
  const parsed = reserveSchema.safeParse({ requests, tokens, money, ...rest });
  for (const issue of parsed.error?.issues ?? [])
    report(['reserve', ...issue.path].join('.'), issue.message);
  return parsed.data;
}

/** Throws what the tool throws, and where it answers with something else or not in time. */
export async function versionsOf(
  tool: ToolDefinition<unknown, unknown>,
  input: unknown,
  of: VersionsFor,
): Promise<Versions> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${tool.name}: versions gave no answer in ${limits.versionsMs} ms`));
    }, limits.versionsMs);
  });
  try {
    // Outside of Temporal's context, as for `execute`.
    const asked = asyncLocalStorage.exit(async () => tool.versions?.(input, of));
    const parsed = versionsSchema.safeParse(await Promise.race([asked, tooLate]));
    if (parsed.success) return parsed.data;
  } finally {
    clearTimeout(timer);
  }
  throw new Error(`${tool.name}: versions answered with something else than versions`);
}
