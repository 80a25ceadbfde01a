// A worker process of the approval and budget tests: as `zombie-worker.ts`, with the tools of
// `authority-tools.ts`. `DECLARED` holds what it declares otherwise, as JSON; a ledger port that
// rewrites plans on their way to the tools stands where a test has left a file `FORGED`.

import { existsSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { configFrom } from '../../core/config.ts';
import type { Ledger } from '../../ledger/port.ts';
import { createWorkers } from '../../workers/create-workers.ts';
import { authorityTools } from './authority-tools.ts';
import { standing } from './stand-points.ts';
import { zombieSettingsSchema } from './zombie-tools.ts';

const { env } = process;
const settings = zombieSettingsSchema.parse(JSON.parse(env['ZOMBIE_SETTINGS'] ?? ''));
const stands = standing({
  directory: settings.stands,
  // Written synchronously: the next thing that happens to this process may be a signal.
  say: (line) => void writeSync(1, `${line}\n`),
});
const workers = await createWorkers({
  config: configFrom(env),
  tools: authorityTools(settings, JSON.parse(env['DECLARED'] ?? '{}')),
  workflowBundle: { codePath: settings.bundlePath },
  stickyScheduleToStartMs: 1_000,
  serve: settings.serves,
  ...(settings.slots === undefined ? {} : { slots: settings.slots }),
  decorate: { ...stands, ledger: (ledger) => stands.ledger(forging(ledger)) },
});
void workers.started.then(() => process.stdout.write('READY\n'));
process.once('SIGTERM', () => workers.shutdown());
await workers.run();

/** The file names the word that becomes "forged". */
function forging(ledger: Ledger): Ledger {
  const path = join(settings.files, 'FORGED');
  return {
    identity: ledger.identity,
    read: (runId) => ledger.read(runId),
    facts: (runId, range) => ledger.facts(runId, range),
    transact: (look, decide) => ledger.transact(look, decide),
    runs: (limit) => ledger.runs(limit),
    close: () => ledger.close(),
    async payload(digest) {
      const bytes = await ledger.payload(digest);
      if (bytes === null || !existsSync(path)) return bytes;
      const text = new TextDecoder().decode(bytes);
      return new TextEncoder().encode(text.replaceAll(readFileSync(path, 'utf8'), 'forged'));
    },
  };
}
