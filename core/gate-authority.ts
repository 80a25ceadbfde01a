// The gate's rows on what is allowed now: revocation, revisions, grants, what the decision was made
// on, and a person's approval. In the order of `gateVerdicts`, like the table they are part of.

import { boundOf, decidedVersions, decisionInForce, decisionOn } from './approval.ts';
import type { Digest } from './digest.ts';
import type { Revisions, Versions } from './fact-fields.ts';
import { type EntryAsk, type GateCase, type Row, says } from './gate-case.ts';
import { compensatedVersionProblem } from './gate-compensation.ts';
import { grantFor } from './grants.ts';
import type { ActionState } from './run-state.ts';
import type { GateVerdict } from './verdict.ts';

export const authorityRows = {
  revoked: ({ view }) => says(view.run.revoked || view.run.canceled, 'revoked or canceled'),
  goal_stale: (each) => staleRevision(each, 'goal'),
  authority_stale: (each) => staleRevision(each, 'auth'),
  not_granted: notGranted,
  object_changed: (each) => changedVersion(each, 'object') ?? compensatedVersionProblem(each),
  dependencies_changed: (each) => changedVersion(each, 'dependencies'),
  credentials_changed: (each) => changedVersion(each, 'credentials'),
  approval_denied: ({ ask, view, action }) => {
    const decision = decisionInForce(action, boundBy(ask), view.now);
    return decision?.decision === 'deny' ? `denied by ${decision.actor}: ${decision.reason}` : null;
  },
  approval_missing: approvalMissing,
  approval_mismatch: (each) =>
    says(needsApproval(each), 'what was approved is not what would be sent now'),
} as const satisfies { readonly [V in GateVerdict]?: Row };

const revisionNames = { goal: 'goal', auth: 'authority' } as const satisfies Record<
  keyof Revisions,
  string
>;

function staleRevision({ ask, view }: GateCase, which: keyof Revisions): string | null {
  const [decided, current] = [ask.revisions[which], view.run.revisions[which]];
  return says(
    decided !== current,
    `decided under ${revisionNames[which]} revision ${decided}; it is ${current} now`,
  );
}

function notGranted({ ask, view }: GateCase): string | null {
  const grants = view.run.grants ?? [];
  const needed = ask.compensates === undefined ? grantFor[ask.replay] : 'compensate';
  if (!grants.includes(needed)) return `"${needed}" is not granted; granted: ${grants.join(', ')}`;
  if (ask.denied !== undefined) return ask.denied;
  if (grants.includes('accept')) return null;
  const late = ask.consumes.pairs.find(
    ({ actionId }) => view.run.actions.get(actionId)?.final?.late === true,
  );
  return late === undefined
    ? null
    : `"accept" is not granted, and the result of ${late.actionId} came late`;
}

/** A version that its tool no longer names, or names now for the first time, is a change, too. */
function changedVersion({ ask, action }: GateCase, which: keyof Versions): string | null {
  if (action === undefined || !wasDecided(action)) return null;
  const [before, now] = [decidedVersions(action)[which], ask.versions?.[which]];
  return says(before !== now, `decided on ${before ?? 'none'}; it is ${now ?? 'none'} now`);
}

function wasDecided({ attempts, refusals }: ActionState): boolean {
  return attempts.length > 0 || refusals.some(({ asks }) => asks !== undefined);
}

export function boundBy({ binding, payload, revisions }: EntryAsk): Digest {
  return boundOf({ binding, payload: payload.digest, revisions });
}

function needsApproval({ ask, view, action }: GateCase): boolean {
  return ask.approval !== null && decisionInForce(action, boundBy(ask), view.now) === undefined;
}

/** Nobody has decided under this revision, or the decision has expired as declared. */
function approvalMissing(each: GateCase): string | null {
  if (!needsApproval(each)) return null;
  const { ask, action } = each;
  const bound = boundBy(ask);
  if (decisionOn(action, bound) !== undefined) return 'its approval has expired';
  const { goal, auth } = ask.revisions;
  const other = action?.approvals.some(
    ({ revisions }) => revisions.goal === goal && revisions.auth === auth,
  );
  return says(other !== true, `a person has to approve ${bound}`);
}
