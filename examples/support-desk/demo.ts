// `npm run demo`: a run that works through a file of support mails while its worker is killed and
// replies get lost. Options: --json, --keep, --server <host:port>; --refunds: another run of the
// same desk, in which whoever watches decides. See README.

import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from '../../client/client.ts';
import { clientConfigFrom } from '../../core/config.ts';
import type { Ledger } from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { clientCommand } from './answering.ts';
import { directKills, plannedKills } from './director.ts';
import { effectRows } from './effect-rows.ts';
import { type Watching, watchFacts } from './progress.ts';
import { payRefunds } from './refunds.ts';
import { isClean, type Report, reportLine, reportTable } from './report.ts';
import { type Desk, settleNotice } from './settlement.ts';
import { openStage, type Stage } from './stage.ts';
import { tallyOf } from './tally.ts';

const WHOLE_MS = 120_000;
const INSTRUCTIONS =
  'Work through the support mails: read them, open one ticket for each, send one notice to the ' +
  'support lead, write the summary.';

const { values: flags } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    refunds: { type: 'boolean', default: false },
    server: { type: 'string' },
  },
});
const begun = Date.now();
const seconds = () => Math.round((Date.now() - begun) / 100) / 10;
const say = (line: string) => {
  const stream = flags.json ? process.stderr : process.stdout;
  stream.write(`${seconds().toFixed(1).padStart(6)} s  ${line}\n`);
};

say('starting a Temporal server, a model service, a ticket system and a mail gateway');
const signals = ['SIGINT', 'SIGTERM'] as const;
// Until the stage stands, what it has started dies with this process.
const leave = (signal: NodeJS.Signals) => {
  say(`ended by ${signal}`);
  process.exit(1);
};
for (const signal of signals) process.once(signal, leave);
const stage = await openStage({
  existing: flags.server ?? null,
  workers: flags.refunds ? 1 : plannedKills.length + 1,
});
for (const signal of signals) process.off(signal, leave);
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of signals) process.once(signal, () => reject(new Error(`ended by ${signal}`)));
});
interrupted.catch(() => undefined); // it is awaited below; until then it is nobody's failure
try {
  const report = flags.refunds ? null : await counted(stage);
  if (flags.refunds) await Promise.race([connected(stage, byHand), interrupted]);
  if (flags.keep) await keepUp(stage);
  process.exitCode = report === null || isClean(report) ? 0 : 1;
  await stage.stop();
  if (flags.json && report !== null) process.stdout.write(`${reportLine(report)}\n`);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
  await stage.stop();
}
process.exit();

async function counted(stage: Stage): Promise<Report> {
  const late = pause(WHOLE_MS, null, { ref: false }).then(() => {
    throw new Error(
      `not done within ${WHOLE_MS / 1_000} s; the worker said: ${stage.workerWords()}`,
    );
  });
  const report = await Promise.race([connected(stage, killed), late, interrupted]);
  if (!flags.json) process.stdout.write(`\n${reportTable(report)}\n`);
  return report;
}

interface Connected extends Desk {
  readonly ledger: Ledger;
  readonly watching: Watching;
}

async function connected<T>(stage: Stage, work: (desk: Connected) => Promise<T>): Promise<T> {
  const { temporal, paths, runId } = stage;
  say(`Temporal at ${temporal.address}; Web UI: ${temporal.uiUrl ?? 'as of that server'}`);
  const ledger = await openSqliteLedger({ path: paths.ledger, create: true });
  const client = await createClient({ config: clientConfigFrom(stage.settings), ledger });
  const watching = watchFacts(ledger, runId, say);
  try {
    return await work({ client, ledger, watching, runId, stage, say });
  } finally {
    await watching.stop();
    await client.close();
    await ledger.close();
  }
}

async function byHand(desk: Connected): Promise<void> {
  await desk.stage.startWorker();
  await payRefunds(desk);
}

async function killed(desk: Connected): Promise<Report> {
  const { client, ledger, watching, runId, stage } = desk;
  const start = async () => {
    const principal = { user: 'support-bot', workspace: 'example' };
    await client.start(runId, { goal: INSTRUCTIONS, principal });
    say(`run ${runId} is started`);
  };
  const kills = await directKills({ runId, stage, start, say });
  await settleNotice(desk);
  const { end } = await client.result(runId);
  await watching.stop();
  say(`the run's own word: ${end.kind}; now the receivers' logs are counted`);
  const facts = await ledger.facts(runId, { after: 0, limit: 10_000 });
  const run = await ledger.read(runId);
  const tally = tallyOf({ run, facts, effects: await effectRows(stage) });
  const droppedReplies = (await stage.tickets.faultHits()) + (await stage.notices.faultHits());
  return { ...tally, workerKills: kills.length, droppedReplies, seconds: Math.round(seconds()) };
}

async function keepUp(stage: Stage): Promise<void> {
  const { temporal, runId } = stage;
  say(`still up until Ctrl-C: Temporal ${temporal.address}, Web UI ${temporal.uiUrl}`);
  say(`ask the run: ${clientCommand(stage, `state ${runId}`)}`);
  await interrupted.catch(() => undefined);
}
