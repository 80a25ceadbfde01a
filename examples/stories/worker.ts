// The worker process of a story: the tools of one example, and a ledger that stands still at armed
// kill points; everything else is the product. Settings come from the environment.

import { writeSync } from 'node:fs';
import type { Tools } from '../../activities/index.ts';
import { configFrom } from '../../core/config.ts';
import { createWorkers } from '../../workers/create-workers.ts';
import { withKillPoints } from '../support-desk/kill-points.ts';

/** Until SIGTERM. */
export async function runWorker(tools: Tools): Promise<void> {
  const { env } = process;
  const workers = await createWorkers({
    config: configFrom(env),
    tools,
    workflowBundle: { codePath: settingOf('STORY_BUNDLE') },
    // What a killed worker had in memory is worked on by the next one at once.
    stickyScheduleToStartMs: 1_000,
    decorate: {
      ledger: (ledger) =>
        withKillPoints(ledger, {
          directory: settingOf('STORY_KILL_POINTS'),
          // Written synchronously: the next thing that happens to this process is SIGKILL.
          announce: ({ point, actionId }) => void writeSync(1, `REACHED ${point} ${actionId}\n`),
        }),
    },
  });
  void workers.started.then(() => process.stdout.write('READY\n'));
  process.once('SIGTERM', () => workers.shutdown());
  await workers.run();
}

export function settingOf(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}
