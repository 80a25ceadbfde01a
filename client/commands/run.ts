// holdfast run: starts a run or attaches to it.

import type { Budget, BudgetInput } from '../../core/budget-limits.ts';
import type { Money } from '../../core/cost.ts';
import { ClientError } from '../errors.ts';
import { exitOfRun } from '../exit-codes.ts';
import { planFrom } from '../goal.ts';
import type { RunHandle } from '../run-start.ts';
import { resultLines } from '../run-text.ts';
import type { GoalStart } from '../start-request.ts';
import { type AmendFlags, grantsIn } from './authority.ts';
import type { CommandContext, CommandOutput } from './command.ts';

/** How a run is described on the command line. */
export interface StartFlags {
  readonly plan?: string;
  readonly goal?: string;
  readonly user?: string;
  readonly workspace?: string;
  readonly account?: string;
  readonly tool?: readonly string[];
  readonly grant?: AmendFlags['grant'];
  readonly budgetRequests?: number;
  readonly budgetTokens?: number;
  readonly budgetMoney?: Money;
  readonly budgetWallTime?: number;
  readonly onExhausted?: Budget['onExhausted'];
}

export interface RunFlags extends StartFlags {
  readonly wait?: boolean;
}

export async function run(
  context: CommandContext,
  runId: string,
  flags: RunFlags,
): Promise<CommandOutput> {
  const start = await startFrom(context, flags);
  return followed(context, await context.client.start(runId, start), flags.wait === true);
}

/** Throws ClientError `bad_input` naming the flags that are missing. */
export async function startFrom({ read }: CommandContext, flags: StartFlags): Promise<GoalStart> {
  const { plan, goal, user, workspace, account, tool, grant } = flags;
  if ((plan === undefined) === (goal === undefined))
    throw new ClientError('bad_input', 'give either --plan <file> or --goal <text>, one of them');
  if (user === undefined || workspace === undefined)
    throw new ClientError(
      'bad_input',
      'give --user and --workspace: a run acts for somebody, and nobody is assumed',
    );
  const budget = budgetIn(flags);
  const grants = grantsIn(grant);
  return {
    goal: plan === undefined ? (goal as string) : planFrom(await read(plan), plan),
    principal: { user, workspace, ...(account === undefined ? {} : { account }) },
    ...(tool === undefined ? {} : { tools: tool }),
    ...(budget === undefined ? {} : { budget }),
    ...(grants === undefined ? {} : { grants }),
  };
}

/** Throws ClientError `bad_input` where something is to happen when nothing can run out. */
function budgetIn(flags: StartFlags): BudgetInput | undefined {
  const { budgetRequests, budgetTokens, budgetMoney, budgetWallTime, onExhausted } = flags;
  const given = Object.entries({
    requests: budgetRequests,
    tokens: budgetTokens,
    money: budgetMoney,
    wallTimeMs: budgetWallTime,
  }).filter(([, value]) => value !== undefined);
  if (given.length === 0 && onExhausted !== undefined)
    throw new ClientError('bad_input', '--on-exhausted needs a budget: give one of --budget-…');
  if (given.length === 0) return undefined;
  const limits = Object.fromEntries(given) as BudgetInput;
  return onExhausted === undefined ? limits : { ...limits, onExhausted };
}

export async function followed(
  { client }: CommandContext,
  handle: RunHandle,
  wait: boolean,
): Promise<CommandOutput> {
  const { runId, how } = handle;
  if (how !== 'ended' && !wait)
    return {
      json: { runId, how, result: null, answer: null },
      lines: [
        `run ${runId} ${how === 'started' ? 'started' : 'is open already; attached to it'}`,
        `see: holdfast state ${runId}`,
      ],
      exit: 'ok',
    };
  const result = await handle.result();
  const answer = await client.answer(result);
  return {
    json: { runId, how, result, answer },
    lines: [
      ...(how === 'ended' ? [`run ${runId} ended before; this is its record`] : []),
      ...resultLines(result),
      ...(answer === null ? [] : ['answer:', ...answerLines(answer)]),
    ],
    exit: exitOfRun(result),
  };
}

function answerLines(answer: unknown): string[] {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2);
  return text.split('\n').map((line) => `  ${line}`);
}
