// Runs that somebody struck: an operator with the buttons of Temporal, or a person with an answer.
// Each plays to its end; its history is then saved under the name of the row.

import type { WorkflowHandle } from '@temporalio/client';
import type { ResolveCommand } from '../../core/commands.ts';
import { unknownIdOf } from '../../core/ids.ts';
import { limits } from '../../core/limits.ts';
import { patches } from '../../workflows/patches.ts';
import { asked, until } from '../support/fault-stage.ts';
import { patchesIn } from './histories.ts';
import type { Recorder } from './recorder.ts';

const WITHIN_MS = 120_000;
/** Steps whose walk alone makes a server that is impatient suggest to continue. */
const LOST = 8;
const principal = { user: 'ada', workspace: 'shop' };
const who = { actor: 'ada', reason: 'recorded' };
const ticket = (subject: string) => ({ tool: 'open_ticket', input: { subject } });
const lostReply = { fault: 'commit_then_drop_reply', operation: 'send_notice' } as const;
const notice = { tool: 'send_notice', input: { to: 'lead@example.com' } };

export interface Operated {
  /** `<workflow>-<version>-<why>` without the version. */
  readonly workflow: string;
  readonly why: string;
  readonly workflowId: string;
  /** Of a workflow that continued as new; default: the newest. */
  readonly execution?: 'first' | 'newest';
  play(recorder: Recorder): Promise<void>;
}

const agentRun = (why: string, play: (recorder: Recorder, runId: string) => Promise<void>) => ({
  workflow: 'agentRun',
  why,
  workflowId: why,
  play: (recorder: Recorder) => play(recorder, why),
});
const played = async () => undefined;

export const operated: readonly Operated[] = [
  agentRun('settled-by-a-person', async (recorder, runId) => {
    await replyLost(recorder, runId);
    await answerYes(recorder, runId);
    await endsAs(recorder, runId, 'completed');
  }),
  {
    workflow: 'unknownAction',
    why: 'settled-by-a-person',
    workflowId: unknownIdOf('settled-by-a-person.t1.c1'),
    play: played,
  },
  agentRun('reset-in-flight', async (recorder, runId) => {
    await heldAtStep(recorder, runId, 2);
    const [first = 0] = await recorder.operator.resetPoints(runId);
    await recorder.operator.reset(runId, { eventId: first });
    await endsAs(recorder, runId, 'completed');
    await recorder.receiver.release();
  }),
  agentRun('reset-beside-itself', async (recorder, runId) => {
    await recorder.receiver.arm({ fault: 'hold', keyIncludes: `${runId}.t1.c1` });
    await start(recorder, runId, [notice, ticket('after the late result')]);
    await held(recorder);
    // To the task that scheduled it: the copy's own attempt meets the first one at the gate.
    const eventId = (await recorder.operator.resetPoints(runId)).at(-1) ?? 0;
    await recorder.operator.reset(runId, { eventId });
    await asked(recorder.client, `${runId}.t1.c1`);
    await recorder.receiver.release();
    await endsAs(recorder, runId, 'completed');
  }),
  agentRun('revoked-and-reset', async (recorder, runId) => {
    await heldAtStep(recorder, runId, 1);
    const [eventId = 0] = await recorder.operator.resetPoints(runId);
    await recorder.client.revoke(runId, { id: 'revoke-2', ...who });
    await recorder.operator.reset(runId, { eventId, excludeSignals: true });
    await endsAs(recorder, runId, 'stopped');
    await recorder.receiver.release();
  }),
  agentRun('adopted-question-ended', async (recorder, runId) => {
    await replyLost(recorder, runId);
    await asked(recorder.client, `${runId}.t1.c1`);
    const [eventId = 0] = await recorder.operator.resetPoints(runId);
    await recorder.operator.reset(runId, { eventId });
    const hint = { actionId: `${runId}.t1.c1`, attemptId: null, outcomeDigest: null };
    await gone(recorder, runId, patches.openEndedAgain, (run) => run.signal('lateFact', hint));
    await recorder.operator.terminate(unknownIdOf(hint.actionId));
    await until('its question again', WITHIN_MS, async () => {
      await recorder.temporal.workflow.getHandle(runId).signal('lateFact', hint);
      return isOpen(recorder, unknownIdOf(hint.actionId));
    });
    await answerYes(recorder, runId);
    await endsAs(recorder, runId, 'completed');
  }),
  agentRun('question-ended-beside-the-run', async (recorder, runId) => {
    const question = unknownIdOf(`${runId}.t1.c1`);
    const { receiver, operator } = recorder;
    await receiver.arm(lostReply);
    await receiver.arm({ fault: 'hold', keyIncludes: `${runId}.t2.c1` });
    await start(recorder, runId, [
      { ...notice, onUnknown: 'continue' },
      { ...ticket('beside it'), onUnknown: 'continue' },
    ]);
    await held(recorder);
    await operator.terminate(question);
    await until('the run hears of it', WITHIN_MS, async () => {
      const { events } = await recorder.temporal.workflow.getHandle(runId).fetchHistory();
      return events?.some((each) => each.childWorkflowExecutionTerminatedEventAttributes) === true;
    });
    await receiver.release();
    await endsAs(recorder, runId, 'ended_with_unknown');
    await until('its question again', WITHIN_MS, () => isOpen(recorder, question));
  }),
  agentRun('canceled-in-flight', async (recorder, runId) => {
    await heldAtStep(recorder, runId, 1);
    await recorder.client.cancel(runId, { id: 'cancel-1', ...who });
    await recorder.receiver.release();
    await endsAs(recorder, runId, 'stopped');
  }),
  agentRun('resumed-after-terminate', async (recorder, runId) => {
    await heldAtStep(recorder, runId, 1);
    await recorder.operator.terminate(runId);
    await recorder.receiver.release();
    await recorder.client.resume(runId, who);
    await endsAs(recorder, runId, 'completed');
  }),
  agentRun('forged-result', async (recorder, runId) => {
    await heldAtStep(recorder, runId, 1);
    await recorder.operator.complete(await pending(recorder, runId), { kind: 'all is well' });
    await endsAs(recorder, runId, 'completed');
    await recorder.receiver.release();
  }),
  agentRun('paused-until-overdue', async (recorder, runId) => {
    const slow = { tool: 'slow_notice', input: { to: 'lead@example.com' } };
    await recorder.receiver.arm({ fault: 'hold', operation: 'send_notice' });
    await start(recorder, runId, [slow]);
    await held(recorder);
    await recorder.operator.pause(await pending(recorder, runId));
    await asked(recorder.client, `${runId}.t1.c1`);
    await recorder.receiver.release();
    await endsAs(recorder, runId, 'completed');
  }),
  {
    workflow: 'invoice',
    why: 'failed-after-its-result',
    workflowId: 'invoice-43',
    async play(recorder) {
      const { stored, release } = recorder.holdBehind('invoice-43.charge');
      const input = { title: 'invoice 43', cents: 1_200 };
      await recorder.client.start('invoice-43', { workflow: 'invoice', input });
      await stored;
      await recorder.operator.fail(await pending(recorder, 'invoice-43'), 'pressed by mistake');
      await endsAs(recorder, 'invoice-43', 'completed');
      release();
    },
  },
  agentRun('ended-before-its-copy', async (recorder, runId) => {
    await heldAtStep(recorder, runId, 1);
    await unreadable(recorder, runId, 'command-0');
    await recorder.receiver.release();
    await endsAs(recorder, runId, 'completed');
    // The copy is given the command with its first task; the end is on record before the command.
    const { stored, release } = recorder.holdBehind('command-0');
    const [eventId = 0] = await recorder.operator.resetPoints(runId);
    await recorder.operator.reset(runId, { eventId });
    await stored;
    await gone(recorder, runId, patches.endAfterHandlers);
    release();
  }),
  agentRun('doubted-as-scheduled', async (recorder, runId) => {
    await replyLost(recorder, runId);
    await gone(recorder, runId, patches.keepUnsent);
    await answerYes(recorder, runId);
    await endsAs(recorder, runId, 'completed');
  }),
  agentRun('recorded-in-turn', async (recorder, runId) => {
    await heldAtStep(recorder, runId, 1);
    const ids = Array.from({ length: 2 * limits.recordingsMax }, (_, index) => `command-${index}`);
    await Promise.all(ids.map((id) => unreadable(recorder, runId, id)));
    await gone(recorder, runId, patches.recordInTurn);
    await recorder.receiver.release();
    await endsAs(recorder, runId, 'completed');
  }),
];

/** On a server that suggests it early; its own, because the others would continue as well. */
export const continued: readonly Operated[] = [
  agentRun('continued-with-an-unknown', async (recorder, runId) => {
    await replyLost(recorder, runId);
    const actionId = `${runId}.t1.c1`;
    await asked(recorder.client, actionId);
    const handle = recorder.temporal.workflow.getHandle(runId);
    const { runId: first } = await handle.describe();
    await until('the next execution', WITHIN_MS, async () => {
      await handle.signal('lateFact', { actionId, attemptId: null, outcomeDigest: null });
      return (await handle.describe()).runId !== first;
    });
    await answerYes(recorder, runId);
    await endsAs(recorder, runId, 'completed');
  }),
  {
    ...agentRun('carries-commands-on', async (recorder, runId) => {
      await replyLost(recorder, runId);
      const actionId = `${runId}.t1.c1`;
      await asked(recorder.client, actionId);
      const first = recorder.holdBehind('command-1');
      const second = recorder.holdBehind('command-2');
      await unreadable(recorder, runId, 'command-1');
      await first.stored;
      await gone(recorder, runId, patches.carryCommands, async (handle) => {
        await handle.signal('lateFact', { actionId, attemptId: null, outcomeDigest: null });
      });
      await unreadable(recorder, runId, 'command-2');
      first.release();
      await second.stored;
      second.release();
      await answerYes(recorder, runId);
      await endsAs(recorder, runId, 'completed');
    }),
    execution: 'first',
  },
  {
    workflow: 'agentRun',
    why: 'continued-with-commands',
    workflowId: 'carries-commands-on',
    play: played,
  },
  agentRun('walk-longer-than-a-history', async (recorder, runId) => {
    const lost = Array.from({ length: LOST }, (_, n) => ({
      ...{ tool: 'send_notice', input: { to: `${n}@example.com` }, onUnknown: 'continue' },
    }));
    await recorder.receiver.arm({ ...lostReply, times: LOST });
    await start(recorder, runId, [...lost, { ...ticket('after all'), onUnknown: 'continue' }]);
    await endsAs(recorder, runId, 'ended_with_unknown');
  }),
];

async function start({ client }: Recorder, runId: string, steps: readonly object[]) {
  const goal = { kind: 'plan' as const, steps: steps as never };
  await client.start(runId, { goal, principal });
}

/** Of its first step; the second waits for what a person says. */
async function replyLost(recorder: Recorder, runId: string): Promise<void> {
  await recorder.receiver.arm(lostReply);
  await start(recorder, runId, [notice, ticket('after the answer')]);
}

/** Of two steps; the struck one waits at its receiver. */
async function heldAtStep(recorder: Recorder, runId: string, step: number): Promise<void> {
  const keyIncludes = `${runId}.t${step}.c1`;
  await recorder.receiver.arm({ fault: 'hold', keyIncludes });
  await start(recorder, runId, [ticket(`${runId} 1`), ticket(`${runId} 2`)]);
  await held(recorder);
}

/** A command that can only be put on record as rejected. */
async function unreadable({ temporal }: Recorder, runId: string, id: string): Promise<void> {
  await temporal.workflow.getHandle(runId).signal('resolve', { id });
}

/** Until the new way is in the history of the newest execution. */
async function gone(
  { temporal }: Recorder,
  runId: string,
  patch: string,
  push: (handle: WorkflowHandle) => Promise<void> = played,
): Promise<void> {
  const handle = temporal.workflow.getHandle(runId);
  await until(patch, WITHIN_MS, async () => {
    await push(handle);
    return patchesIn(await handle.fetchHistory()).includes(patch);
  });
}

async function isOpen({ temporal }: Recorder, workflowId: string): Promise<boolean> {
  return (await temporal.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';
}

function held({ receiver }: Recorder): Promise<boolean> {
  return until('a held request', WITHIN_MS, async () => {
    return (await receiver.faults()).held.length === 1;
  });
}

async function pending({ operator }: Recorder, runId: string) {
  const [found] = await operator.pending(runId);
  if (found === undefined) throw new Error(`${runId}: no attempt is pending`);
  return { runId, attemptId: found.attemptId };
}

async function answerYes({ client }: Recorder, runId: string): Promise<void> {
  const { if_yes } = await asked(client, `${runId}.t1.c1`);
  const evidence = { kind: 'receiver_query', source: 'list of notices' } as const;
  await client.resolve(runId, { ...if_yes, ...who, evidence } as ResolveCommand);
}

async function endsAs({ client }: Recorder, runId: string, kind: string): Promise<void> {
  const { end } = await client.result(runId);
  if (end.kind !== kind) throw new Error(`run ${runId} ended as ${JSON.stringify(end)}`);
}
