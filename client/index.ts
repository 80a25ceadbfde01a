// The client library, by name.

export type {
  AmendCommand,
  ApprovalCommand,
  ResolveCommand,
  RevokeCommand,
  StopCommand,
  TopUpCommand,
} from '../core/commands.ts';
export { type ClientConfig, ConfigError, clientConfigFrom } from '../core/config.ts';
export type { RunResult } from '../core/outcome.ts';
export type { Question } from '../core/question.ts';
export { LedgerError } from '../ledger/port.ts';
export type { CommandAnswer, Goal, PlanStep, RunStateAnswer } from '../workflows/messages.ts';
export type { ApprovalQuestion } from './approvals.ts';
export type { AuthorityOptions, AuthorityReply } from './authority.ts';
export type { AuthorityView, BudgetView, DecisionView, LimitView } from './authority-view.ts';
export { type ClientOptions, createClient, type HoldfastClient } from './client.ts';
export type { DistinctQuestion } from './distinctions.ts';
export { ClientError, type ClientErrorCode } from './errors.ts';
export { planFrom } from './goal.ts';
export type { Inbox, InboxDispute, InboxExhausted, InboxQuestion } from './inbox.ts';
export type { ResolveOptions, ResolveReply } from './resolution.ts';
export type { RunHandle } from './run-start.ts';
export type { ActionView, AttemptView, RunView } from './run-view.ts';
export type { GoalStart, StartOptions, WorkflowStart } from './start-request.ts';
export type { ResumeOptions } from './takeover.ts';
