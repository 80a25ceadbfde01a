// A worker process of the fault tests: product composition, tools of `fault-tools.ts`, a ledger
// that stands still at armed kill points. `FAULT_SETTINGS` holds its own settings as JSON.

import { writeSync } from 'node:fs';
import { configFrom } from '../../core/config.ts';
import { withKillPoints } from '../../examples/support-desk/kill-points.ts';
import { createWorkers } from '../../workers/create-workers.ts';
import { deafToRevoke, heldBefore, watchedBarrier } from './barrier-watch.ts';
import { callsAtOnce } from './calls-at-once.ts';
import { faultSettingsSchema, faultTools } from './fault-tools.ts';

const { env } = process;
const config = configFrom(env);
const settings = faultSettingsSchema.parse(JSON.parse(env['FAULT_SETTINGS'] ?? ''));
const { barrier: watch } = settings;
const { runs, actions, inquiries } = config.queues;
const serve = {
  all: undefined,
  not_elsewhere: [runs, actions, inquiries],
  elsewhere_only: [settings.elsewhere],
}[settings.serves];
const workers = await createWorkers({
  config,
  tools: faultTools(settings),
  ...(settings.callsAtOnce === undefined ? {} : { model: callsAtOnce(settings.callsAtOnce) }),
  workflowBundle: { codePath: settings.bundlePath },
  stickyScheduleToStartMs: 1_000,
  ...(serve === undefined ? {} : { serve }),
  decorate: {
    registry: (registry) => (watch === undefined ? registry : heldBefore(registry, watch)),
    barrier: (barrier) => (watch === undefined ? barrier : watchedBarrier(barrier, watch)),
    ledger: (ledger) =>
      withKillPoints(watch === undefined ? ledger : deafToRevoke(ledger, watch), {
        directory: settings.killPoints,
        // Written synchronously: the next thing that happens to this process is SIGKILL.
        announce: ({ point, actionId }) => void writeSync(1, `REACHED ${point} ${actionId}\n`),
      }),
  },
});
void workers.started.then(() => process.stdout.write('READY\n'));
process.once('SIGTERM', () => workers.shutdown());
await workers.run();
