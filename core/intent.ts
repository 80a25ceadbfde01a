// What makes two actions look like the same wish: principal, tool, receiver domain and payload.

import { type Digest, digestOf } from './digest.ts';
import type { Principal } from './fact-fields.ts';
import type { ReplayPolicy } from './tool-policy.ts';

export interface Intent {
  readonly principal: Principal;
  readonly tool: string;
  readonly domain: string | null;
  readonly payload: Digest;
  readonly replay: ReplayPolicy;
}

/** Null for reads and model calls: repeating those is no accident. */
export function intentDigestOf({ replay, ...intent }: Intent): Digest | null {
  if (replay === 'safe' || replay === 'rebuy') return null;
  const { user, workspace, account = null } = intent.principal;
  return digestOf({ ...intent, principal: { user, workspace, account } });
}
