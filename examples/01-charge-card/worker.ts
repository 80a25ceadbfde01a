// Runs the workflow and its tools until SIGTERM. Settings come from the environment: at least
// HOLDFAST_INSTALLATION, HOLDFAST_LEDGER_URL, and HOLDFAST_LEDGER_CREATE=on the first time.

import { bundleWorkflows, configFrom, createWorkers, packageFile } from 'holdfast/worker';
import { tools } from './tools.ts';

const workflowsPath = packageFile(import.meta.url, './workflows');
const workers = await createWorkers({
  config: configFrom(process.env),
  tools,
  workflowBundle: await bundleWorkflows({ workflowsPath }),
});
process.once('SIGTERM', workers.shutdown);
void workers.started.then(() => console.log('READY'));
await workers.run();
