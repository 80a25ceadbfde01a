// A worker process of the fault tests: product composition, tools of `fault-tools.ts`, a ledger
// that stands still at armed kill points. `FAULT_SETTINGS` holds its own settings as JSON.

import { writeSync } from 'node:fs';
import { configFrom } from '../../core/config.ts';
import { withKillPoints } from '../../examples/support-desk/kill-points.ts';
import { createWorkers } from '../../workers/create-workers.ts';
import { faultSettingsSchema, faultTools } from './fault-tools.ts';

const { env } = process;
const config = configFrom(env);
const settings = faultSettingsSchema.parse(JSON.parse(env['FAULT_SETTINGS'] ?? ''));
const { runs, actions, inquiries } = config.queues;
const serve = {
  all: undefined,
  not_elsewhere: [runs, actions, inquiries],
  elsewhere_only: [settings.elsewhere],
}[settings.serves];
const workers = await createWorkers({
  config,
  tools: faultTools(settings),
  workflowBundle: { codePath: settings.bundlePath },
  stickyScheduleToStartMs: 1_000,
  ...(serve === undefined ? {} : { serve }),
  decorate: {
    ledger: (ledger) =>
      withKillPoints(ledger, {
        directory: settings.killPoints,
        // Written synchronously: the next thing that happens to this process is SIGKILL.
        announce: ({ point, actionId }) => void writeSync(1, `REACHED ${point} ${actionId}\n`),
      }),
  },
});
void workers.started.then(() => process.stdout.write('READY\n'));
process.once('SIGTERM', () => workers.shutdown());
await workers.run();
