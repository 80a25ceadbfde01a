// Three orders are charged, and each time the shop does not hear of it: a reply is lost, a worker
// dies after the charge, and another one while the bank still thinks. Whoever comes next sends the
// same bytes under the same key.

import type { StoryStage } from '../stories/stage.ts';
import { principal, type Story, settledBy } from '../stories/story.ts';
import { chargesFor, requestsFor } from './payment-log.ts';

const REACHED_MS = 60_000;
const orders = {
  'order-1': { card: 'tok_visa', cents: 1_200 },
  'order-2': { card: 'tok_visa', cents: 3_400 },
  'order-3': { card: 'tok_bank_asleep', cents: 5_600 },
} as const;

export const paymentStory: Story = {
  title: 'a payment API that keeps keys for a day (L2): the same bytes again, under the same key',
  cast: {
    name: 'payments',
    receiver: { script: 'examples/payments/payment-api.ts', urlSetting: 'PAYMENT_API_URL' },
    worker: 'examples/payments/worker.ts',
  },
  async play(stage) {
    const { client, receiver, runId, say } = stage;
    await receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: `${runId}.order-1` });
    say('armed: the reply about order-1 gets lost');
    stage.arm({ point: 'after_receiver_commit', actionId: `${runId}.order-2` });
    const first = await stage.worker();
    const steps = Object.entries(orders).map(([name, input]) => ({
      ...{ name, tool: 'charge_card', input },
    }));
    const run = await client.start(runId, { goal: { kind: 'plan', steps }, principal });
    await first.line('REACHED ', REACHED_MS);
    await first.kill();
    say(`SIGKILL to worker ${first.pid}: order-2 is charged, and nobody here has written it down`);
    await whileTheBankSleeps(stage, `${runId}.order-3`);
    await run.result();
    return Promise.all(
      Object.keys(orders).map(async (order) => {
        const actionId = `${runId}.${order}`;
        const effects = (await chargesFor(receiver, actionId)).length;
        return { actionId, effects, settled: await settledBy(stage, actionId) };
      }),
    );
  },
};

/** The request is at work when its worker dies; the next one is told to wait, and waits. */
async function whileTheBankSleeps(stage: StoryStage, actionId: string): Promise<void> {
  const { receiver, say, until } = stage;
  const answers = async () => (await requestsFor(receiver, actionId)).map(({ status }) => status);
  const second = await stage.worker();
  await until('order-3 at the bank', async () => (await answers()).includes(null));
  await second.kill();
  say(`SIGKILL to worker ${second.pid}: the bank has order-3 and has not answered`);
  await stage.worker();
  await until('409 for order-3', async () => (await answers()).includes(409));
  say('the same key again: 409, its first request is still at work; waiting, not paying twice');
  await receiver.post('/bank/wake');
}
