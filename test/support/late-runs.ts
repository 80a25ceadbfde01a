// Runs whose jobs are held at their receiver, so that a test says what comes first: the result, or
// what stops the run. The model rents in its first reply, rents again once it is told, and ends.

import type { Fact } from '../../core/facts.ts';
import { attemptsIn } from './after-signal.ts';
import { JOB_USAGE } from './billed-tools.ts';
import type { CaseStage } from './case-stage.ts';
import { until } from './fault-stage.ts';
import type { ModelCall } from './model-service.ts';

export const WITHIN_MS = 60_000;
export const stopped = { actor: 'ann@example.com', reason: 'the order was withdrawn' };

/** What the model service says of each of its replies. */
export const REPLY_USAGE = { inputTokens: 20, outputTokens: 8 } as const;

/** Usage of so many replies and so many jobs. */
export function usageOf({ replies, jobs }: { replies: number; jobs: number }) {
  return {
    requests: replies + JOB_USAGE.requests * jobs,
    inputTokens: REPLY_USAGE.inputTokens * replies + JOB_USAGE.inputTokens * jobs,
    outputTokens: REPLY_USAGE.outputTokens * replies + JOB_USAGE.outputTokens * jobs,
  };
}

/** The first turn's calls by their tools. */
export type Jobs = readonly ('rent' | 'rent_briefly')[];

const goalOf = (runId: string, jobs: Jobs) => `${runId}: ${jobs.join(', ')}`;

/** Of `caseStage`. */
export function jobCalls(instructions: string, turn: number): readonly ModelCall[] {
  const [runId = '', jobs = ''] = instructions.split(': ');
  const tools = turn === 1 ? jobs.split(', ') : turn === 2 ? ['rent'] : [];
  return tools.map((tool, index) => ({ tool, input: { name: `${runId} ${turn}.${index + 1}` } }));
}

/** Starts a run; returns when each of its first jobs stands in front of its receiver. */
export async function withHeldJobs(cases: CaseStage, runId: string, jobs: Jobs) {
  const { receiver } = cases.stage;
  await receiver.arm({ fault: 'hold', keyIncludes: `/${runId}.t1.`, times: jobs.length });
  const run = await cases.start(runId, { kind: 'model', instructions: goalOf(runId, jobs) });
  await until(`the jobs of ${runId} at their receiver`, WITHIN_MS, async () => {
    const { held } = await receiver.faults();
    return held.filter(({ key }) => key.includes(`/${runId}.`)).length === jobs.length;
  });
  return { run, jobs: jobs.map((_, index) => `${runId}.t1.c${index + 1}`) };
}

/** The job is done only now; returns the fact of its result. */
export async function letFinish(cases: CaseStage, actionId: string): Promise<Fact> {
  const { ledger, receiver } = cases.stage;
  await receiver.release(actionId);
  const [runId = ''] = actionId.split('.', 1);
  return until(`the result of ${actionId}`, WITHIN_MS, async () => {
    const facts = await ledger.facts(runId, { after: 0, limit: 1_000 });
    const settled = facts.find(
      ({ body }) => body.kind === 'attempt_settled' && body.actionId === actionId,
    );
    return settled ?? null;
  });
}

/** The workflow has heard of it, whoever recorded it. */
export function heard(cases: CaseStage, runId: string, word: 'revoked' | 'canceled') {
  return until(`${runId} ${word}`, WITHIN_MS, async () => {
    const details = await detailsOf(cases, runId);
    return details.includes(`stopped (${word})`);
  });
}

/** What an operator reads on the run's page. */
export async function detailsOf({ temporal }: CaseStage, workflowId: string): Promise<string> {
  const handle = temporal.workflow.getHandle(workflowId);
  const metadata = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails.replaceAll('\\', '');
}

/** What the run has set going, by its own history, by its receiver and by its model service. */
export async function started(cases: CaseStage, runId: string, jobs: Jobs) {
  const { events } = await cases.temporal.workflow.getHandle(runId).fetchHistory();
  const positionOf = (id: string) => id.slice(runId.length + 1).replace(/~.*/, '');
  const requests = await cases.stage.receiver.requests();
  return {
    scheduled: attemptsIn(events ?? [])
      .map(positionOf)
      .sort(),
    arrived: requests
      .filter(({ key }) => key.includes(`/${runId}.`))
      .map(({ key }) => key.slice(key.indexOf(`/${runId}.`) + runId.length + 2))
      .sort(),
    asked: cases.model.asked(goalOf(runId, jobs)).length,
  };
}
