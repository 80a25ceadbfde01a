// `npm run faults -- --repeat 5 [--seed n]`: every scenario that often, with victims drawn from the
// seed. Prints a table; exit code 1 when anything did not hold.

import { parseArgs } from 'node:util';
import { startEmbeddedServer } from '../../workers/embedded-server.ts';
import { bundleWorkflows, packageFile } from '../../workers/workflow-bundle.ts';
import { type FaultStage, openFaultStage } from '../support/fault-stage.ts';
import { play, problemsOf } from './harness.ts';
import { type Scenario, STEPS, scenarios } from './scenarios.ts';

const REPEAT_MAX = 1_000;

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
  const { address, namespace } = server;
  const stage = await openFaultStage({ address, namespace, bundlePath });
  try {
    process.exitCode = (await playAll(stage)) === 0 ? 0 : 1;
  } finally {
    await stage.close();
  }
} finally {
  await server.stop();
}

/** How many plays did not hold. */
async function playAll(stage: FaultStage): Promise<number> {
  const random = randomFrom(seed);
  let broken = 0;
  for (let round = 1; round <= repeat; round++)
    for (const [index, scenario] of scenarios.entries()) {
      const victim = Math.floor(random() * STEPS);
      const runId = `round-${round}-scenario-${index}`;
      const problems = await problemsIn(stage, scenario, { runId, victim });
      if (problems.length > 0) broken += 1;
      const word = problems.length === 0 ? 'holds ' : 'BROKEN';
      const row = `${String(round).padStart(4)}  victim ${victim}  ${word}  ${scenario.title}`;
      process.stdout.write([row, ...problems.map((text) => `      ${text}`), ''].join('\n'));
    }
  process.stdout.write(`${repeat * scenarios.length} plays, ${broken} broken; seed ${seed}\n`);
  return broken;
}

/** A play that does not come to its end is broken, too; the others go on. */
async function problemsIn(
  stage: FaultStage,
  scenario: Scenario,
  how: { readonly runId: string; readonly victim: number },
): Promise<readonly string[]> {
  try {
    return problemsOf(scenario, await play(stage, scenario, how));
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** mulberry32: small, and the same on every machine. */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function wholeNumber(name: string, text: string, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value <= most) return value;
  throw new Error(`--${name} "${text}" is not a whole number up to ${most}`);
}
