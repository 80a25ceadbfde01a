// What people say to the run of an activity rig, recorded as the workflow records it.

import { createRegistry, type ToolDefinition } from '../../activities/index.ts';
import type { RecordReply } from '../../core/activity-calls.ts';
import type { AuthorityCommand, AuthorityVerb } from '../../core/commands.ts';
import type { Json } from '../../core/digest.ts';
import type { ApprovalAsk } from '../../core/facts.ts';
import { actionIdOf } from '../../core/ids.ts';
import { chargeCard, defaults, type Rig, RUN } from './activity-rig.ts';

type More<V extends AuthorityVerb> = Omit<AuthorityCommand<V>, 'id' | 'actor' | 'reason'>;

let given = 0;

export async function say<V extends AuthorityVerb>(
  rig: Rig,
  verb: V,
  more: More<V> & { readonly id?: string; readonly reason?: string },
): Promise<Extract<RecordReply, { kind: 'applied' }>> {
  const command = { id: `${verb}-${++given}`, actor: 'grace', reason: 'because', ...more };
  const call = { kind: verb, runId: RUN, pin: null, command, position: null };
  const reply = await rig.activities().recordFacts(call as never);
  if (reply.kind !== 'applied') throw new Error(`not an answer to a command: ${reply.kind}`);
  return reply;
}

/** On what the action asked for, as its refusal said it. */
export function decideOn(
  rig: Rig,
  verb: 'approve' | 'deny',
  asks: ApprovalAsk | undefined,
  position = 't1.c1',
) {
  if (asks === undefined) throw new Error('nothing asks');
  return say(rig, verb, { actionId: actionIdOf(RUN, position), bound: asks.bound });
}

type Charge = ToolDefinition<{ amount: number; note: string }, Json>;

/** The rig's worker, restarted with its one tool declared otherwise. */
export function redeclare(rig: Rig, over: Partial<Charge>): void {
  const tool = { ...chargeCard(rig.receiver), ...over };
  Object.assign(rig.deps, { registry: createRegistry({ charge_card: tool }, defaults) });
}
