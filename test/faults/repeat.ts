// `npm run faults -- --repeat 5 [--seed n]`: every scenario that often, with victims drawn from the
// seed, and ten revocations in floods of signals beside each round. Prints a table; exit code 1
// when anything did not hold.

import { parseArgs } from 'node:util';
import { startEmbeddedServer } from '../../workers/embedded-server.ts';
import { bundleWorkflows, packageFile } from '../../workers/workflow-bundle.ts';
import { type FaultStage, openFaultStage } from '../support/fault-stage.ts';
import { randomFrom } from '../support/random.ts';
import { FLOOD_TITLE, type FloodStage, floodProblems, openFloodStage, playFlood } from './flood.ts';
import { play, problemsOf } from './harness.ts';
import { STEPS, scenarios } from './scenarios.ts';

const REPEAT_MAX = 1_000;
/** Fifty at `--repeat 5`: a revocation seldom strikes where it hurts. */
const FLOODS_PER_ROUND = 10;

const { values: flags } = parseArgs({
  options: { repeat: { type: 'string', default: '1' }, seed: { type: 'string' } },
});
const repeat = wholeNumber('repeat', flags.repeat, REPEAT_MAX);
const seed = wholeNumber('seed', flags.seed ?? String(Date.now() % 2 ** 31), 2 ** 31);
process.stdout.write(`again with: npm run faults -- --repeat ${repeat} --seed ${seed}\n`);

const server = await startEmbeddedServer();
try {
  const { codePath: bundlePath } = await bundleWorkflows({
    workflowsPath: packageFile(import.meta.url, '../../workflows/index'),
    payloadConverterPath: packageFile(import.meta.url, '../../workflows/payload-converter'),
  });
  const place = { address: server.address, namespace: server.namespace, bundlePath };
  const stage = await openFaultStage(place);
  const flood = await openFloodStage(place, seed);
  try {
    process.exitCode = (await playAll({ stage, flood })) === 0 ? 0 : 1;
  } finally {
    await stage.close();
    await flood.close();
  }
} finally {
  await server.stop();
}

interface Stages {
  readonly stage: FaultStage;
  readonly flood: FloodStage;
}

/** How many plays did not hold. */
async function playAll({ stage, flood }: Stages): Promise<number> {
  const random = randomFrom(seed);
  let plays = 0;
  let broken = 0;
  const tell = (round: number, title: string, problems: readonly string[]) => {
    plays += 1;
    if (problems.length > 0) broken += 1;
    const word = problems.length === 0 ? 'holds ' : 'BROKEN';
    const row = `${String(round).padStart(4)}  ${word}  ${title}`;
    process.stdout.write([row, ...problems.map((text) => `      ${text}`), ''].join('\n'));
  };
  for (let round = 1; round <= repeat; round++) {
    for (const [index, scenario] of scenarios.entries()) {
      const victim = Math.floor(random() * STEPS);
      const runId = `round-${round}-scenario-${index}`;
      const problems = await problemsIn(async () =>
        problemsOf(scenario, await play(stage, scenario, { runId, victim })),
      );
      tell(round, `victim ${victim}  ${scenario.title}`, problems);
    }
    for (let n = 1; n <= FLOODS_PER_ROUND; n++) {
      const runId = `round-${round}-flood-${n}`;
      const problems = await problemsIn(async () =>
        floodProblems(await playFlood(flood, { runId, random })),
      );
      tell(round, `flood ${n}   ${FLOOD_TITLE}`, problems);
    }
  }
  process.stdout.write(`${plays} plays, ${broken} broken; seed ${seed}\n`);
  return broken;
}

/** A play that does not come to its end is broken, too; the others go on. */
async function problemsIn(played: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await played();
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function wholeNumber(name: string, text: string, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value <= most) return value;
  throw new Error(`--${name} "${text}" is not a whole number up to ${most}`);
}
