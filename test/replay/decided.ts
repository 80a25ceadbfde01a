// Runs that waited, for what only a person can give or for a receiver's answer, or were given
// another goal on their way.

import type { ResolveCommand } from '../../core/commands.ts';
import { until } from '../support/fault-stage.ts';
import type { Operated } from './operated.ts';
import type { Recorder } from './recorder.ts';

const WITHIN_MS = 120_000;
const principal = { user: 'ada', workspace: 'shop' };
const who = { actor: 'ada', reason: 'recorded' };
const signOff = (subject: string) => ({ tool: 'sign_off', input: { subject } });
const ticket = (subject: string) => ({ tool: 'open_ticket', input: { subject } });
const plan = (...steps: readonly { tool: string; input: { subject: string } }[]) => ({
  kind: 'plan' as const,
  steps,
});

const agentRun = (why: string, play: (recorder: Recorder, runId: string) => Promise<void>) => ({
  workflow: 'agentRun',
  why,
  workflowId: why,
  play: (recorder: Recorder) => play(recorder, why),
});

export const decided: readonly Operated[] = [
  agentRun('approved-and-topped-up', async (recorder, runId) => {
    const { client } = recorder;
    // Each attempt reserves 100 and never says what it cost: the second does not fit.
    const goal = plan(signOff('first'), signOff('second'));
    await client.start(runId, { goal, principal, budget: { tokens: 150 } });
    await decide(recorder, runId, { position: 't1.c1', verb: 'approve' });
    await decide(recorder, runId, { position: 't2.c1', verb: 'approve' });
    await until('an exhausted budget', WITHIN_MS, async () => {
      const { live } = await client.state(runId);
      return live?.exhausted != null;
    });
    await client.topUp(runId, { id: 'top-up-1', ...who, tokens: 100 });
    await ends(recorder, runId, 'completed');
  }),
  agentRun('denied', async (recorder, runId) => {
    await recorder.client.start(runId, { goal: plan(signOff('first')), principal });
    await decide(recorder, runId, { position: 't1.c1', verb: 'deny' });
    await ends(recorder, runId, 'stopped');
  }),
  agentRun('told-from-its-twin', async (recorder, runId) => {
    const { client, receiver } = recorder;
    await receiver.arm({ fault: 'commit_then_drop_reply', operation: 'send_notice' });
    const notice = { tool: 'send_notice', input: { to: 'lead@example.com' } };
    const steps = [notice, notice].map((step) => ({ ...step, onUnknown: 'continue' as const }));
    await client.start(runId, { goal: { kind: 'plan', steps }, principal });
    const asked = await until('a twin that waits', WITHIN_MS, async () => {
      const { live } = await client.state(runId);
      return live?.twins?.[0] === undefined ? null : client.distinction(runId, `${runId}.t2.c1`);
    });
    await client.resolve(runId, { ...asked.answer, ...who } as ResolveCommand);
    await ends(recorder, runId, 'ended_with_unknown');
  }),
  agentRun('waits-for-an-answer', async (recorder, runId) => {
    const { client, receiver } = recorder;
    await receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: runId });
    // The question fails first: nothing is sent before it has been answered.
    await receiver.arm({ fault: 'unavailable', on: 'close', keyIncludes: runId });
    const credit = { tool: 'keyed_credit', input: { account: 'u7', amount: 10 } };
    const steps = [credit, ticket('after the answer')];
    await client.start(runId, { goal: { kind: 'plan', steps }, principal });
    await ends(recorder, runId, 'completed');
  }),
  agentRun('amended-in-flight', async (recorder, runId) => {
    const { client, receiver } = recorder;
    await receiver.arm({ fault: 'hold', keyIncludes: `${runId}.t1.c1` });
    await client.start(runId, { goal: plan(ticket('old 1'), ticket('old 2')), principal });
    await until('a held request', WITHIN_MS, async () => {
      return (await receiver.faults()).held.length === 1;
    });
    await client.amend(runId, { id: 'amend-1', ...who, goal: plan(ticket('new')) });
    await receiver.release();
    await ends(recorder, runId, 'completed');
  }),
];

interface Decision {
  readonly position: string;
  readonly verb: 'approve' | 'deny';
}

async function decide({ client }: Recorder, runId: string, { position, verb }: Decision) {
  const actionId = `${runId}.${position}`;
  const bound = await until(`${actionId} to approve`, WITHIN_MS, async () => {
    const { live } = await client.state(runId);
    return live?.approvals.find((each) => each.actionId === actionId)?.bound ?? null;
  });
  const command = { id: `${verb}/${actionId}`, ...who, actionId, bound: bound as never };
  await client[verb](runId, command);
}

async function ends({ client }: Recorder, runId: string, kind: string): Promise<void> {
  const { end } = await client.result(runId);
  if (end.kind !== kind) throw new Error(`run ${runId} ended as ${JSON.stringify(end)}`);
}
