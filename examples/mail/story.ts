// Two mails, both in doubt: the reply about the first is lost, and the worker dies before it sends
// the second. From here the two look the same; only the gateway's own log tells them apart.

import { receiverKeyOf } from '../../core/ids.ts';
import { principal, type Story, settledBy } from '../stories/story.ts';
import { lookItUp, mailsWith } from './person.ts';
import { messageIdOf } from './tools.ts';

const REACHED_MS = 60_000;
const mails = {
  welcome: { to: 'ada@example.com', subject: 'Welcome', body: 'Your account is ready.' },
  invoice: { to: 'ada@example.com', subject: 'Invoice 42', body: 'Due in 14 days.' },
} as const;

export const mailStory: Story = {
  title: 'a mail gateway that cannot be asked (L0): the run holds, and a person looks into its log',
  cast: {
    name: 'mail',
    receiver: {
      script: 'receiver/main.ts',
      args: ['--kind', 'dumb', '--faults'],
      urlSetting: 'MAIL_GATEWAY_URL',
    },
    worker: 'examples/mail/worker.ts',
  },
  async play(stage) {
    const { client, receiver, runId, settings, say } = stage;
    await receiver.arm({ fault: 'commit_then_drop_reply', bodyIncludes: 'Welcome' });
    say('armed: the reply about the first mail gets lost');
    stage.arm({ point: 'after_gate', actionId: `${runId}.invoice` });
    const first = await stage.worker();
    const steps = Object.entries(mails).map(([name, input]) => ({
      ...{ name, tool: 'send_mail', input },
    }));
    const run = await client.start(runId, { goal: { kind: 'plan', steps }, principal });
    await lookItUp(stage, `${runId}.welcome`);
    await first.line('REACHED ', REACHED_MS);
    await first.kill();
    say(`SIGKILL to worker ${first.pid}: the invoice may go out, and did not yet`);
    await stage.worker();
    await lookItUp(stage, `${runId}.invoice`);
    await run.result();
    const place = {
      installation: settings['HOLDFAST_INSTALLATION'] ?? '',
      namespace: settings['HOLDFAST_NAMESPACE'] ?? '',
    };
    return Promise.all(
      Object.keys(mails).map(async (name) => {
        const actionId = `${runId}.${name}`;
        const messageId = messageIdOf(receiverKeyOf(place, actionId));
        const effects = (await mailsWith(receiver, messageId)).length;
        return { actionId, effects, settled: await settledBy(stage, actionId) };
      }),
    );
  },
};
