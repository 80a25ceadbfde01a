// `holdfast/workflow`: what a workflow bundle exports. Named re-exports only: every function here
// is a workflow type, or is called by one.

export type { ActOutcome, RunResult } from '../core/outcome.ts';
export { agentRun } from './agent-run.ts';
export { type Act, type ActOptions, type Holdfast, holdfast } from './holdfast.ts';
export { unknownAction } from './unknown-action.ts';
