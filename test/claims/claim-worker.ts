// A worker process of the check: product composition, tools of `claim-tools.ts`. `CLAIM_SETTINGS`
// holds its settings as JSON.

import { configFrom } from '../../core/config.ts';
import { createWorkers } from '../../workers/create-workers.ts';
import { claimSettingsSchema, claimTools } from './claim-tools.ts';

const settings = claimSettingsSchema.parse(JSON.parse(process.env['CLAIM_SETTINGS'] ?? ''));
const workers = await createWorkers({
  config: configFrom(process.env),
  tools: claimTools(settings),
  workflowBundle: { codePath: settings.bundlePath },
  stickyScheduleToStartMs: 1_000,
});
void workers.started.then(() => process.stdout.write('READY\n'));
process.once('SIGTERM', () => workers.shutdown());
await workers.run();
