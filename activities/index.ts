// The activities of a worker. `holdfast/activities` for tool authors and composition roots.

import type { HoldfastActivities } from '../core/activity-calls.ts';
import type { ActivityDeps } from './deps.ts';
import { endRunWith } from './end-run.ts';
import { inquireWith } from './inquire.ts';
import { openRunWith } from './open-run.ts';
import { performActionWith } from './perform-action.ts';
import { recordFactsWith } from './record-facts.ts';

export function createActivities(deps: ActivityDeps): HoldfastActivities {
  return {
    openRun: openRunWith(deps),
    performAction: performActionWith(deps),
    inquire: inquireWith(deps),
    recordFacts: recordFactsWith(deps),
    endRun: endRunWith(deps),
  };
}

export { type BarrierServer, temporalBarrier } from './barrier.ts';
export { type Clock, systemClock } from './clock.ts';
export type { ActivityDeps, ActivityLog } from './deps.ts';
export { failureTypes } from './failures.ts';
export { heartbeatInterceptor } from './heartbeat.ts';
export { nonRetryableInterceptor } from './interceptor.ts';
export { type LateSignals, temporalLateSignals } from './late-signal.ts';
export {
  type AnyTool,
  createRegistry,
  type RegisteredTool,
  type Registry,
  RegistryError,
  type ToolDefaults,
  type Tools,
} from './registry.ts';
export {
  type ApprovalPolicy,
  type Attempt,
  defineTool,
  type Inquiry,
  type InquiryAnswer,
  KeyRefusedError,
  NotAllowedError,
  NotSentError,
  type ReserveDeclaration,
  type Settlement,
  type ToolDefinition,
  type ToolInput,
  type ToolResult,
  type VersionsFor,
} from './tool.ts';
export { type CreateFileOptions, createFileTool } from './tools/files/create-file.ts';
export type { SymlinkPolicy } from './tools/files/place.ts';
export { type ReplaceFileOptions, replaceFileTool } from './tools/files/replace-file.ts';
export { type HttpReceiverOptions, httpReceiver } from './tools/http-receiver.ts';
export {
  type Model,
  type ModelPort,
  type ModelPortOptions,
  modelFrom,
  modelPort,
} from './tools/model.ts';
export type { ModelSpending } from './tools/model-cost.ts';
export { readFileTool } from './tools/read-file.ts';
