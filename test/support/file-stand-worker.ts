// A worker process of the file tests: as `zombie-worker.ts`, with the tools that write files below
// `FILE_ROOT`, once under the lock and once as where the addon is missing. What they publish is
// written down in `PUBLICATIONS`.

import { writeSync } from 'node:fs';
import { createFileTool } from '../../activities/tools/files/create-file.ts';
import { replaceFileTool } from '../../activities/tools/files/replace-file.ts';
import { nodeFiles } from '../../activities/tools/files/system.ts';
import { configFrom } from '../../core/config.ts';
import { createWorkers } from '../../workers/create-workers.ts';
import { standing, standstillOf } from './stand-points.ts';
import { standingFiles } from './standing-files.ts';
import { zombieSettingsSchema } from './zombie-tools.ts';

const { env } = process;
const settings = zombieSettingsSchema.parse(JSON.parse(env['ZOMBIE_SETTINGS'] ?? ''));
const stands = {
  directory: settings.stands,
  // Written synchronously: the next thing that happens to this process may be a signal.
  say: (line: string) => void writeSync(1, `${line}\n`),
};
const root = env['FILE_ROOT'] ?? '';
const files = standingFiles(nodeFiles, {
  standstill: standstillOf(stands),
  logPath: env['PUBLICATIONS'] ?? '',
});
const unlocked = { ...files, addonMissing: () => 'left out by the test' };
const { toolQueue: taskQueue } = settings;
const workers = await createWorkers({
  config: configFrom(env),
  tools: {
    create_file: { ...createFileTool({ root, files }), taskQueue },
    replace_file: { ...replaceFileTool({ root, files }), taskQueue },
    create_unlocked: {
      ...createFileTool({ root, files: unlocked }),
      ...{ name: 'create_unlocked', taskQueue },
    },
    replace_unlocked: {
      ...replaceFileTool({ root, files: unlocked, withoutLock: true }),
      ...{ name: 'replace_unlocked', taskQueue },
    },
  },
  workflowBundle: { codePath: settings.bundlePath },
  stickyScheduleToStartMs: 1_000,
  serve: settings.serves,
  ...(settings.slots === undefined ? {} : { slots: settings.slots }),
  decorate: standing(stands),
});
void workers.started.then(() => process.stdout.write('READY\n'));
process.once('SIGTERM', () => workers.shutdown());
await workers.run();
