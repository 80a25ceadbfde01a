// The body of a worker process that can be stopped at a kill point: the product's composition, with
// tools of the test. `FAULT_SETTINGS` is what the stage hands over.

import { writeSync } from 'node:fs';
import type { Tools } from '../../activities/index.ts';
import { configFrom } from '../../core/config.ts';
import { withKillPoints } from '../../examples/support-desk/kill-points.ts';
import { createWorkers } from '../../workers/create-workers.ts';
import { type FaultSettings, faultSettingsSchema } from './fault-tools.ts';

export async function runMortalWorker(toolsOf: (settings: FaultSettings) => Tools): Promise<void> {
  const { env } = process;
  const settings = faultSettingsSchema.parse(JSON.parse(env['FAULT_SETTINGS'] ?? ''));
  const workers = await createWorkers({
    config: configFrom(env),
    tools: toolsOf(settings),
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
}
