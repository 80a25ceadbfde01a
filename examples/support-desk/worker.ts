// The worker process of the example: `node --import tsx examples/support-desk/worker.ts`, settings in
// the environment. Its ledger stands still at armed kill points; everything else is the product.

import { writeSync } from 'node:fs';
import { configFrom } from '../../core/config.ts';
import { openLedger } from '../../ledger/open.ts';
import { createWorkers } from '../../workers/index.ts';
import { withKillPoints } from './kill-points.ts';
import { deskSettings, supportDeskTools } from './tools.ts';

const { env } = process;
const config = configFrom(env);
const settings = deskSettings(env);
const opened = await openLedger(config.ledger, { create: true });
const ledger = withKillPoints(opened, {
  directory: settings.killPoints,
  // Written synchronously: the next thing that happens to this process is SIGKILL.
  announce: ({ point, actionId }) => void writeSync(1, `REACHED ${point} ${actionId}\n`),
});
const workers = await createWorkers({
  config,
  tools: supportDeskTools(settings),
  ledger,
  workflowBundle: { codePath: settings.bundle },
});
process.stdout.write('READY\n');
await workers.run();
await opened.close();
