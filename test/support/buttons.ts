// What the tests of the operator's buttons share: a stage with a worker, Temporal as the operator
// reaches it, and steps that stand at their receiver until they are let go.

import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, inject } from 'vitest';
import type { RunHandle } from '../../client/index.ts';
import { unknownIdOf } from '../../core/ids.ts';
import type { ActionState } from '../../core/run-state.ts';
import type { PlanStep } from '../../workflows/messages.ts';
import { type FaultOptions, type FaultStage, openFaultStage, until } from './fault-stage.ts';
import { type Operator, operatorOf } from './operator.ts';

export const WITHIN_MS = 60_000;
export const principal = { user: 'ada', workspace: 'w1' };

export interface Buttons {
  readonly stage: FaultStage;
  readonly operator: Operator;
  readonly temporal: Client;
}

/** Called outside of the tests of a file; what it answers is filled in before they run. */
export function buttonsStage(options: FaultOptions = {}): Buttons {
  const at = {} as { -readonly [K in keyof Buttons]: Buttons[K] };
  let connection: Connection;
  beforeAll(async () => {
    const { address, namespace } = inject('temporal');
    const server = { address, namespace, bundlePath: inject('bundlePath') };
    at.stage = await openFaultStage(server, options);
    connection = await Connection.connect({ address });
    at.temporal = new Client({ connection, namespace });
    at.operator = operatorOf(at.temporal);
    await at.stage.worker();
  });
  afterAll(async () => {
    await connection.close();
    await at.stage.close();
  });
  return at;
}

/** Keyed, can be asked and closed; counts at the reference receiver. */
export function add(runId: string, name: string, more: Partial<PlanStep> = {}): PlanStep {
  return { name, tool: 'add', input: { counter: `${runId}.${name}`, delta: 1 }, ...more };
}

/** Promises nothing; a line in the gateway's log. */
export function notice(runId: string, name: string, more: Partial<PlanStep> = {}): PlanStep {
  const input = { to: 'lead@example.com', subject: subjectOf(`${runId}.${name}`), body: '' };
  return { name, tool: 'send_notice', input, ...more };
}

function subjectOf(actionId: string): string {
  return `Notice ${actionId} `;
}

export function startPlan(
  { stage }: Buttons,
  runId: string,
  steps: readonly PlanStep[],
): Promise<RunHandle> {
  return stage.client.start(runId, { goal: { kind: 'plan', steps }, principal });
}

/** The next request of the action waits in front of its receiver. */
export async function hold({ stage }: Buttons, actionId: string): Promise<void> {
  await stage.receiver.arm({ fault: 'hold', keyIncludes: actionId });
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: subjectOf(actionId) });
}

export function heldAt({ stage }: Buttons, actionId: string): Promise<true> {
  return until(`the request of ${actionId} at its receiver`, WITHIN_MS, async () => {
    const { held } = await stage.receiver.faults();
    // The gateway knows no keys; what it was told to hold is told by its words.
    const { armed } = await stage.gateway.faults();
    return (
      held.some(({ key }) => key.endsWith(actionId)) ||
      armed.some(({ bodyIncludes, hits }) => bodyIncludes === subjectOf(actionId) && hits > 0)
    );
  });
}

/** Lets go what is held anywhere, and disarms nothing. */
export async function letGo({ stage }: Buttons): Promise<void> {
  await stage.receiver.release();
  await stage.gateway.release();
}

/** Requests of the action that the reference receiver has logged. */
export async function requestsOf({ stage }: Buttons, actionId: string) {
  const requests = await stage.receiver.requests();
  return requests.filter(({ kind, key }) => kind === 'execute' && key.endsWith(actionId));
}

export async function actionOf(
  { stage }: Buttons,
  runId: string,
  name: string,
): Promise<ActionState> {
  const found = (await stage.ledger.read(runId)).actions.get(`${runId}.${name}`);
  if (found === undefined) throw new Error(`${runId}.${name}: not in the ledger`);
  return found;
}

/** Every attempt of the action has settled: nothing of it can change what was counted. */
export function allSettled(at: Buttons, runId: string, name: string): Promise<true> {
  return until(`the end of every attempt of ${runId}.${name}`, WITHIN_MS, async () => {
    const { attempts } = await actionOf(at, runId, name);
    return attempts.every(({ settled, exclusion }) => settled !== null || exclusion !== 'none');
  });
}

export async function factsOf({ stage }: Buttons, runId: string) {
  return stage.ledger.facts(runId, { after: 0, limit: 1_000 });
}

export function childOf({ temporal }: Buttons, actionId: string): WorkflowHandle {
  return temporal.workflow.getHandle(unknownIdOf(actionId));
}

/** The Temporal run id of the newest execution with this id; it is running. */
export function openRunId({ temporal }: Buttons, workflowId: string, not = ''): Promise<string> {
  return until(`${workflowId} open`, WITHIN_MS, async () => {
    const { runId, status } = await temporal.workflow
      .getHandle(workflowId)
      .describe()
      .catch(() => ({ runId: not, status: { name: 'NONE' } }));
    return status.name === 'RUNNING' && runId !== not ? runId : null;
  });
}

/** One more completed workflow task: a signal that says nothing new is handled. */
export async function oneMoreTask(
  { operator, temporal }: Buttons,
  runId: string,
  actionId: string,
): Promise<number> {
  const before = (await operator.resetPoints(runId)).length;
  const hint = { actionId, attemptId: null, outcomeDigest: null };
  await temporal.workflow.getHandle(runId).signal('lateFact', hint);
  return until('the task of the signal', WITHIN_MS, async () => {
    return (await operator.resetPoints(runId))[before] ?? null;
  });
}

/** The task that scheduled the action's first attempt: a Reset to it decides on that anew. */
export async function pointBefore(
  { operator, temporal }: Buttons,
  runId: string,
  actionId: string,
): Promise<number> {
  const { events } = await temporal.workflow.getHandle(runId).fetchHistory();
  const scheduled = events?.find(({ activityTaskScheduledEventAttributes: about }) =>
    about?.activityId?.startsWith(`${actionId}~`),
  );
  const points = await operator.resetPoints(runId);
  const point = points.findLast((each) => each < Number(scheduled?.eventId ?? 0));
  if (point === undefined) throw new Error(`${actionId} was never scheduled in ${runId}`);
  return point;
}
