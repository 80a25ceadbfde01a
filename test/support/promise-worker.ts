// A worker process: as `fault-worker.ts`, with the tools of `promise-tools.ts`.

import { writeSync } from 'node:fs';
import { configFrom } from '../../core/config.ts';
import { withKillPoints } from '../../examples/support-desk/kill-points.ts';
import { createWorkers } from '../../workers/create-workers.ts';
import { faultSettingsSchema } from './fault-tools.ts';
import { promiseTools } from './promise-tools.ts';

const { env } = process;
const settings = faultSettingsSchema.parse(JSON.parse(env['FAULT_SETTINGS'] ?? ''));
const workers = await createWorkers({
  config: configFrom(env),
  tools: promiseTools(settings),
  workflowBundle: { codePath: settings.bundlePath },
  stickyScheduleToStartMs: 1_000,
  decorate: {
    ledger: (ledger) =>
      withKillPoints(ledger, {
        directory: settings.killPoints,
        announce: ({ point, actionId }) => void writeSync(1, `REACHED ${point} ${actionId}\n`),
      }),
  },
});
void workers.started.then(() => process.stdout.write('READY\n'));
process.once('SIGTERM', () => workers.shutdown());
await workers.run();
