// A worker process of the storage tests: as `fault-worker.ts`, on a ledger that breaks by plan, and
// with a letter whose call is over soon, so that a result which cannot be stored is told in time.

import { writeSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { defineTool } from '../../activities/index.ts';
import { configFrom } from '../../core/config.ts';
import { createWorkers } from '../../workers/create-workers.ts';
import { type Breakable, openBreakable, PLAN_FILE, standAt } from './broken-ledger.ts';
import { faultSettingsSchema, faultTools } from './fault-tools.ts';

/** Long enough for a crowded machine to store a result, short enough to wait for its end. */
const LETTER_MS = 9_000;

const { env } = process;
const config = configFrom(env);
const settings = faultSettingsSchema.parse(JSON.parse(env['FAULT_SETTINGS'] ?? ''));
const breakable: Breakable = {
  path: config.ledger.path,
  planPath: join(settings.killPoints, PLAN_FILE),
  announce: (word, { phase, id }, code) => void writeSync(1, `${word} ${phase} ${id} ${code}\n`),
};
const ledger = await openBreakable(breakable);
const letter = defineTool({
  name: 'post_letter',
  version: '1',
  description: 'Posts one letter; nobody can ask whether it went out.',
  input: z.strictObject({ to: z.string(), subject: z.string(), body: z.string() }),
  startToCloseMs: LETTER_MS,
  heartbeatTimeoutMs: LETTER_MS,
  async execute(mail, attempt) {
    attempt.beforeSend();
    const response = await fetch(`${settings.gatewayUrl}/send`, {
      method: 'POST',
      body: JSON.stringify(mail),
    });
    if (response.status !== 200) throw new Error(`the gateway answered ${response.status}`);
    return { kind: 'executed', result: { queued: true }, externalId: `letter of ${mail.subject}` };
  },
});
const workers = await createWorkers({
  config,
  tools: { ...faultTools(settings), post_letter: letter },
  workflowBundle: { codePath: settings.bundlePath },
  stickyScheduleToStartMs: 1_000,
  ledger,
  decorate: {
    barrier: (server) => ({
      ...server,
      async describe(target, deadlineMs) {
        const id = target.activityId.replace(/~.*/, '');
        await standAt(breakable, { phase: 'barrier', id });
        return server.describe(target, deadlineMs);
      },
    }),
  },
});
void workers.started.then(() => process.stdout.write('READY\n'));
process.once('SIGTERM', () => workers.shutdown());
await workers.run();
