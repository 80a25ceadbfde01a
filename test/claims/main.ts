// `npm run check:claims -- --seed n --ops 300 --runs 20`: so many operations, dealt over so many
// runs that are at work at once, under faults drawn from the seed; then every claim against the
// receivers' own logs. Exit code 1 when one is false. `--control`: tools that lie; exit code 1 when
// the check does not find them out.

import { parseArgs } from 'node:util';
import { startEmbeddedServer } from '../../workers/embedded-server.ts';
import { bundleWorkflows, packageFile } from '../../workers/workflow-bundle.ts';
import type { FaultServer } from '../support/fault-stage.ts';
import { lieKinds } from './claim-tools.ts';
import { lyingPlay, type Play, playFrom, WORKERS } from './operations.ts';
import { playClaims } from './play.ts';
import { openClaimStage } from './stage.ts';
import { reportText, violationText } from './told.ts';

const OPS_MAX = 10_000;
const RUNS_MAX = 500;
const WITHIN_MS = 600_000;

const { values: flags } = parseArgs({
  options: {
    seed: { type: 'string' },
    ops: { type: 'string', default: '300' },
    runs: { type: 'string', default: '20' },
    control: { type: 'boolean', default: false },
  },
});
const seed = wholeNumber('seed', flags.seed ?? String(Date.now() % 2 ** 31), 2 ** 31);
const ops = wholeNumber('ops', flags.ops, OPS_MAX);
const runs = wholeNumber('runs', flags.runs, RUNS_MAX);

const server = await startEmbeddedServer();
try {
  const { codePath: bundlePath } = await bundleWorkflows({
    workflowsPath: packageFile(import.meta.url, '../../workflows/index'),
    payloadConverterPath: packageFile(import.meta.url, '../../workflows/payload-converter'),
  });
  const place = { address: server.address, namespace: server.namespace, bundlePath };
  process.exitCode = (await (flags.control ? isFoundOut(place) : isTrue(place))) ? 0 : 1;
} finally {
  await server.stop();
}

async function isTrue(place: FaultServer): Promise<boolean> {
  const again = `npm run check:claims -- --seed ${seed} --ops ${ops} --runs ${runs}`;
  process.stdout.write(`again with: ${again}\n`);
  const play = playFrom({ seed, ops, runs, prefix: `claims-${seed}` });
  const { violations, problems } = await played(place, play, []);
  process.stdout.write(`seed ${seed}\n`);
  return violations.length + problems.length === 0;
}

async function isFoundOut(place: FaultServer): Promise<boolean> {
  const { violations } = await played(place, lyingPlay('control'), lieKinds);
  const kinds = new Set(violations.map(({ kind }) => kind));
  return kinds.has('two_keys') && kinds.has('not_executed_with_effect');
}

async function played(place: FaultServer, play: Play, lies: readonly (typeof lieKinds)[number][]) {
  const begun = Date.now();
  const stage = await openClaimStage(place, { play, workers: WORKERS, lies: [...lies] });
  try {
    const report = await playClaims(stage, play, { withinMs: WITHIN_MS, patience: 'settled' });
    process.stdout.write(await violationText(stage, play, report));
    process.stdout.write(reportText(play, report));
    process.stdout.write(`${Math.round((Date.now() - begun) / 1_000)} s\n`);
    return report;
  } finally {
    await stage.close();
  }
}

function wholeNumber(name: string, text: string, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= 1 && value <= most) return value;
  throw new Error(`--${name} "${text}" is not a whole number from 1 to ${most}`);
}
