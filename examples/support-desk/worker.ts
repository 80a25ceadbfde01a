// The worker process of the example, settings in the environment:
//   node --import tsx examples/support-desk/worker.ts
// Its ledger stands still at armed kill points; everything else is the product.

import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { configFrom } from '../../core/config.ts';
import { createWorkers } from '../../workers/create-workers.ts';
import { withKillPoints } from './kill-points.ts';
import { deskSettings, supportDeskTools } from './tools.ts';

// All code is loaded by now; whoever started this process says when to begin.
await once(process.stdin, 'data');
process.stdin.unref();

const { env } = process;
const settings = deskSettings(env);
const workers = await createWorkers({
  config: configFrom(env),
  tools: supportDeskTools(settings),
  workflowBundle: { codePath: settings.bundle },
  // What a killed worker had in memory is worked on by the next one at once.
  stickyScheduleToStartMs: 1_000,
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
