// A person's permission for one action: bound to exactly what would be sent, under which revision.

import { type Digest, digestOf } from './digest.ts';
import type { Revisions, Versions } from './fact-fields.ts';
import type { ApprovalAsk } from './facts.ts';
import type { ActionState, Approval, RunState } from './run-state.ts';
import type { Binding } from './tool-policy.ts';

/** What an attempt of a tool that asks for approval brings to the gate. */
export interface ApprovalNeed {
  /** How long a decision holds; null: for ever. */
  readonly validForMs: number | null;
}

export interface BoundTo {
  readonly binding: Binding;
  readonly payload: Digest;
  readonly revisions: Revisions;
}

/** Another tool, other bytes or another revision ask anew. */
export function boundOf({ binding, payload, revisions }: BoundTo): Digest {
  const { goal, auth } = revisions;
  return digestOf({ binding: binding.digest, payload, revisions: { goal, auth } });
}

/** What the action asks for now; null where nothing of it waits for a decision. */
export function pendingAsk(
  run: RunState,
  action: ActionState | undefined,
  now: number,
): ApprovalAsk | null {
  const asking = action?.refusals.findLast(({ asks }) => asks !== undefined);
  if (action?.final !== null || asking?.asks === undefined) return null;
  const { goal, auth } = run.revisions;
  if (asking.revisions.goal !== goal || asking.revisions.auth !== auth) return null;
  return decisionInForce(action, asking.asks.bound, now) === undefined ? asking.asks : null;
}

/** The newest on exactly this: a second one is only let in where the first has expired. */
export function decisionOn(action: ActionState | undefined, bound: Digest): Approval | undefined {
  return action?.approvals.findLast((each) => each.bound === bound);
}

/** Consumed by the action once: its later attempts go on under it, expired or not. */
export function decisionInForce(
  action: ActionState | undefined,
  bound: Digest,
  now: number,
): Approval | undefined {
  const decision = decisionOn(action, bound);
  if (decision === undefined) return undefined;
  const consumed = action?.attempts.some(({ entry }) => entry.approval === decision.commandId);
  const holds = decision.validUntil === null || now < decision.validUntil;
  return consumed === true || holds ? decision : undefined;
}

/** Versions it was first decided under; later attempts are held against them. */
export function decidedVersions(action: ActionState | undefined): Versions {
  const asked = action?.refusals.find(({ asks }) => asks !== undefined)?.asks?.versions;
  return action?.attempts[0]?.entry.versions ?? asked ?? {};
}
