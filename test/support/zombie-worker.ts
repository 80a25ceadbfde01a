// A worker process that a test freezes and wakes: product composition, tools of `zombie-tools.ts`,
// ports that stand still where a test has armed them. `ZOMBIE_SETTINGS` holds its settings as JSON.

import { writeSync } from 'node:fs';
import { configFrom } from '../../core/config.ts';
import { createWorkers } from '../../workers/create-workers.ts';
import { standing } from './stand-points.ts';
import { zombieSettingsSchema, zombieTools } from './zombie-tools.ts';

const { env } = process;
const settings = zombieSettingsSchema.parse(JSON.parse(env['ZOMBIE_SETTINGS'] ?? ''));
const workers = await createWorkers({
  config: configFrom(env),
  tools: zombieTools(settings),
  workflowBundle: { codePath: settings.bundlePath },
  stickyScheduleToStartMs: 1_000,
  serve: settings.serves,
  ...(settings.slots === undefined ? {} : { slots: settings.slots }),
  decorate: standing({
    directory: settings.stands,
    // Written synchronously: the next thing that happens to this process may be a signal.
    say: (line) => void writeSync(1, `${line}\n`),
  }),
});
void workers.started.then(() => process.stdout.write('READY\n'));
process.once('SIGTERM', () => workers.shutdown());
await workers.run();
