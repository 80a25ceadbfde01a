// Two jobs that take their time. The worker dies when the first is accepted and its id is written
// down, and the next worker dies while it waits: whoever comes looks at that id. The reply that
// would have named the second job is lost: it is found by what we call it.

import type { StoryStage } from '../stories/stage.ts';
import { principal, type Story, settledBy } from '../stories/story.ts';
import { asksAbout, type Job, jobsFor } from './job-log.ts';

const REACHED_MS = 60_000;
const reports = { sales: { report: 'Sales of May' }, stock: { report: 'Stock of May' } } as const;

export const jobStory: Story = {
  title: 'a job API that accepts and finishes later (L1): its id first, then only looking',
  cast: {
    name: 'jobs',
    receiver: { script: 'examples/jobs/job-api.ts', urlSetting: 'JOB_API_URL' },
    worker: 'examples/jobs/worker.ts',
  },
  async play(stage) {
    const { client, receiver, runId, say } = stage;
    stage.arm({ point: 'after_result', actionId: `${runId}.sales` });
    await receiver.arm({ fault: 'commit_then_drop_reply', bodyIncludes: 'Stock of May' });
    say('armed: the reply with the id of the second job gets lost');
    const first = await stage.worker();
    const steps = Object.entries(reports).map(([name, input]) => ({
      ...{ name, tool: 'make_report', input },
    }));
    const run = await client.start(runId, { goal: { kind: 'plan', steps }, principal });
    await first.line('REACHED ', REACHED_MS);
    await first.kill();
    const sales = await jobNamed(stage, 'sales');
    say(
      `SIGKILL to worker ${first.pid}: ${sales.id} is on record, and the run has not heard of it`,
    );
    const second = await stage.worker();
    await askedAgain(stage, `jobs/${sales.id}`);
    await second.kill();
    say(`SIGKILL to worker ${second.pid}, which was waiting for ${sales.id}`);
    await stage.worker();
    await askedAgain(stage, `jobs/${sales.id}`);
    await receiver.post(`/jobs/${sales.id}/finish`);
    say(`${sales.id} is done; nobody has submitted it again`);
    const stock = await jobNamed(stage, 'stock');
    await askedAgain(stage, `references/${stock.client_reference}`);
    await receiver.post(`/jobs/${stock.id}/finish`);
    await run.result();
    return Promise.all(
      Object.keys(reports).map(async (name) => {
        const actionId = `${runId}.${name}`;
        const effects = (await jobsFor(receiver, actionId)).length;
        return { actionId, effects, settled: await settledBy(stage, actionId) };
      }),
    );
  },
};

function jobNamed({ receiver, runId, until }: StoryStage, name: string): Promise<Job> {
  return until(`the job of ${name}`, async () => {
    const [job] = await jobsFor(receiver, `${runId}.${name}`);
    return job ?? null;
  });
}

async function askedAgain({ receiver, until }: StoryStage, path: string): Promise<void> {
  const before = await asksAbout(receiver, path);
  await until(`a look at ${path}`, async () => (await asksAbout(receiver, path)) > before);
}
