// What is wrong with a run that was fired at: its record, its histories, what it shows, and what
// the receivers have. Every list is empty when everything holds.

import type { Client } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { actionIdOf, unknownIdOf } from '../../core/ids.ts';
import { limits } from '../../core/limits.ts';
import type { RunStateAnswer } from '../../workflows/messages.ts';
import type { Sent } from '../support/command-payloads.ts';
import { until } from '../support/fault-stage.ts';
import type { FuzzStage } from './fuzz.ts';
import { endText } from './harness.ts';

// Each replay tells of a worker that starts and stops.
Runtime.install({ logger: new DefaultLogger('ERROR') });

const WITHIN_MS = 60_000;
const causes = proto.temporal.api.enums.v1.WorkflowTaskFailedCause;
/**
 * The server's own, after which it hands the task out anew: a signal came while the task tried to
 * end the workflow, or more megabytes came during a task than the server keeps beside it.
 */
const HARMLESS: readonly unknown[] = [
  causes.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  causes.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
];

export interface Fired {
  readonly runId: string;
  readonly sent: readonly Sent[];
}

/** Once everything that was sent has been handled, and before anything goes on. */
export async function problemsWhileOpen(
  { faults, temporal }: FuzzStage,
  { runId, sent }: Fired,
): Promise<readonly string[]> {
  const count = rejectionsOf(sent).length;
  const onRecord = Math.min(count, limits.rejectedCommandsMax);
  try {
    await until(`${onRecord} rejections of ${runId}`, WITHIN_MS, async () => {
      return (await rejected({ faults }, runId)).length >= onRecord;
    });
    if (rejectionsOf(sent).some(({ at }) => at === 'question')) return [];
    // Of one execution: a run that has continued as new counts anew.
    const handle = temporal.workflow.getHandle(runId);
    const isFirst = (await handle.describe()).raw.workflowExecutionInfo;
    if (isFirst?.firstRunId !== isFirst?.execution?.runId) return [];
    await until(`${count} counted by ${runId}`, WITHIN_MS, async () => {
      const { lastRejection } = await handle.query<RunStateAnswer>('state');
      return lastRejection?.endsWith(`(${count} rejected so far)`) === true;
    });
    return [];
  } catch (error) {
    const facts = await rejected({ faults }, runId);
    return [`${facts.length} of ${count} rejections on record: ${String(error)}`];
  }
}

export interface Wanted {
  readonly end: string;
  readonly effects: readonly string[];
}

export async function problemsAtEnd(
  stage: FuzzStage,
  fired: Fired,
  wanted: Wanted,
): Promise<readonly string[]> {
  const { runId } = fired;
  const { faults, temporal, bundlePath } = stage;
  const ids = [
    runId,
    ...(fired.sent.some(({ at }) => at === 'question') ? [questionOf(runId)] : []),
  ];
  const histories = (await Promise.all(ids.map((id) => historiesOf(temporal, id)))).flat();
  const ended = await faults.client.result(runId);
  const effects = [...(await effectsOf(stage, runId))].sort();
  const planned = wanted.effects.map((position) => actionIdOf(runId, position)).sort();
  return [
    ...(endText(ended.end) === wanted.end ? [] : [`it ended ${endText(ended.end)}`]),
    ...(effects.join() === planned.join() ? [] : [`effects: ${effects.join()}`]),
    ...(await recordProblems(stage, fired)),
    ...histories.flatMap(taskProblems),
    ...(await Promise.all(histories.map((each) => replayProblem(each, bundlePath)))).flat(),
  ];
}

const questionOf = (runId: string) => unknownIdOf(actionIdOf(runId, 't1.c1'));

function rejectionsOf(sent: readonly Sent[]): readonly Sent[] {
  return sent.filter(({ leaves }) => leaves === 'rejection');
}

async function rejected({ faults }: Pick<FuzzStage, 'faults'>, runId: string) {
  const facts = await faults.ledger.facts(runId, { after: 0, limit: 10_000 });
  return facts.flatMap(({ body }) => (body.kind === 'command_rejected' ? [body] : []));
}

async function recordProblems(stage: FuzzStage, { runId, sent }: Fired): Promise<string[]> {
  const facts = await rejected(stage, runId);
  const count = Math.min(rejectionsOf(sent).length, limits.rejectedCommandsMax);
  const unreadable = facts.filter(
    ({ name, why }) => !/\w/.test(why) || why.length > limits.noteCharsMax || name.length > 200,
  );
  return [
    ...(facts.length === count ? [] : [`${facts.length} rejections on record, not ${count}`]),
    ...unreadable.slice(0, 3).map(({ name, why }) => `on record: "${name}": "${why}"`),
  ];
}

async function effectsOf({ faults }: FuzzStage, runId: string): Promise<readonly string[]> {
  const keys = (await faults.receiver.effects()).map(({ key }) => key);
  const notices = (await faults.gateway.log()).map(({ mail }) => JSON.stringify(mail));
  return [
    ...keys.filter((key) => key.includes(`/${runId}.`)).map((key) => key.replace(/^.*\//, '')),
    ...notices.flatMap((text) => /Notice ([^"]*)"/.exec(text)?.slice(1) ?? []),
  ].filter((actionId) => actionId.startsWith(`${runId}.`));
}

interface Execution {
  readonly workflowId: string;
  readonly history: History;
}

/** Of all executions of it, the newest first. */
async function historiesOf(temporal: Client, workflowId: string): Promise<readonly Execution[]> {
  const found: Execution[] = [];
  let { runId } = await temporal.workflow.getHandle(workflowId).describe();
  while (runId !== '') {
    const history = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    found.push({ workflowId, history });
    const [first] = history.events ?? [];
    runId = first?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
  }
  return found;
}

function taskProblems({ workflowId, history }: Execution): readonly string[] {
  let signals = 0;
  const problems: string[] = [];
  for (const event of history.events ?? []) {
    if (event.workflowExecutionSignaledEventAttributes != null) signals++;
    const { workflowTaskFailedEventAttributes: failed, workflowTaskTimedOutEventAttributes: late } =
      event;
    const where = `${workflowId}, after signal ${signals}`;
    if (failed != null && !HARMLESS.includes(failed.cause))
      problems.push(`${where}: a task failed (${failed.cause}): ${failed.failure?.message}`);
    if (late != null) problems.push(`${where}: a task timed out`);
  }
  return problems;
}

async function replayProblem(
  { workflowId, history }: Execution,
  codePath: string,
): Promise<readonly string[]> {
  try {
    await Worker.runReplayHistory({ workflowBundle: { codePath } }, history, workflowId);
    return [];
  } catch (error) {
    return [`${workflowId} does not replay: ${String(error).slice(0, 300)}`];
  }
}
