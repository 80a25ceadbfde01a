// One stage for approvals, budgets and amendments with worker processes that are killed: the zombie
// tests' stage with the tools of `authority-tools.ts`, and the person who decides.

import type { ApprovalQuestion } from '../../client/approvals.ts';
import type { AuthorityReply } from '../../client/authority.ts';
import type { RunHandle } from '../../client/run-start.ts';
import type { BudgetInput } from '../../core/budget-limits.ts';
import type { Child } from '../../examples/support-desk/child.ts';
import type { Goal } from '../../workflows/messages.ts';
import type { Declared } from './authority-tools.ts';
import { until } from './fault-stage.ts';
import { type Operator, operatorOf } from './operator.ts';
import {
  openZombieStage,
  type Queue,
  type Step,
  WITHIN_MS,
  type ZombieOptions,
  type ZombieStage,
} from './zombie-stage.ts';

export const ann = { actor: 'ann@example.com', reason: 'looked at the order' };
export const ALL: readonly Queue[] = ['runs', 'actions', 'inquiries', 'tools', 'shelf'];
const principal = { user: 'ada', workspace: 'w1' };

export interface PlanStep extends Step {
  readonly onUnknown?: 'hold' | 'continue';
}

export interface AuthorityStage extends ZombieStage {
  readonly operator: Operator;
  /** A worker of all queues, with what it declares otherwise. */
  declaring(declared: Declared): Promise<Child>;
  begin(runId: string, goal: readonly PlanStep[] | Goal, budget?: BudgetInput): Promise<RunHandle>;
  /** What the person is asked about the action, once it asks. */
  toApprove(actionId: string): Promise<ApprovalQuestion>;
  decide(verb: 'approve' | 'deny', about: ApprovalQuestion): Promise<AuthorityReply>;
  /** Why the budget lets nothing in, once it does not. */
  exhausted(runId: string): Promise<string>;
  /** Requests that came to the receiver about one action. */
  arrived(actionId: string): Promise<readonly (string | null)[]>;
  /** How often the action asked to be approved. */
  questions(actionId: string): Promise<number>;
  /** What a person reads about the action that was refused. */
  refusal(actionId: string): Promise<string | null>;
}

export async function openAuthorityStage(options: ZombieOptions = {}): Promise<AuthorityStage> {
  const program = 'test/support/authority-worker.ts';
  const stage = await openZombieStage({ program, ...options });
  const { client } = stage;
  const runOf = (actionId: string) => actionId.slice(0, actionId.indexOf('.'));
  return {
    ...stage,
    operator: operatorOf(stage.temporal),
    declaring: (declared) => stage.worker(ALL, { env: { DECLARED: JSON.stringify(declared) } }),
    begin(runId, goal, budget) {
      const steps = goal as readonly PlanStep[];
      const given = (Array.isArray(goal) ? { kind: 'plan', steps } : goal) as Goal;
      const more = budget === undefined ? {} : { budget };
      return client.start(runId, { goal: given, principal, ...more });
    },
    toApprove: (actionId) =>
      until(`what to approve of ${actionId}`, WITHIN_MS, () =>
        client.approval(runOf(actionId), actionId),
      ),
    decide: (verb, { run, answer }) => client[verb](run, { ...answer, ...ann }),
    exhausted: (runId) =>
      until(`an exhausted budget of ${runId}`, WITHIN_MS, async () => {
        const { exhausted } = await client.inbox();
        return exhausted.find((each) => each.runId === runId)?.why ?? null;
      }),
    async arrived(actionId) {
      const all = await stage.requests(runOf(actionId));
      return all.filter(({ key }) => key.endsWith(`/${actionId}`)).map(({ answer }) => answer);
    },
    async questions(actionId) {
      const refused = await stage.bodies(runOf(actionId), 'attempt_refused');
      return refused.filter((each) => each.actionId === actionId && each.asks).length;
    },
    async refusal(actionId) {
      const { recorded } = await client.state(runOf(actionId));
      return recorded?.actions.find((each) => each.actionId === actionId)?.refusal ?? null;
    },
  };
}
