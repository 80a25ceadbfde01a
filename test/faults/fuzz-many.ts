// `npm run fuzz -- --payloads 2000 [--seed n]`: so many commands over all runs, one of which gets
// more of them than are kept on record. Prints a table; exit code 1 when anything did not hold.

import { parseArgs } from 'node:util';
import { startEmbeddedServer } from '../../workers/embedded-server.ts';
import { bundleWorkflows, packageFile } from '../../workers/workflow-bundle.ts';
import { FUZZ_TITLE, type FuzzStage, openFuzzStage, playFuzz } from './fuzz.ts';
import { FLOOD, type FuzzedRun, floodedRun, fuzzedRuns } from './fuzz-runs.ts';

const PAYLOADS_MAX = 100_000;

const { values: flags } = parseArgs({
  options: { payloads: { type: 'string', default: '2000' }, seed: { type: 'string' } },
});
const payloads = wholeNumber('payloads', flags.payloads, PAYLOADS_MAX);
const seed = wholeNumber('seed', flags.seed ?? String(Date.now() % 2 ** 31), 2 ** 31);
process.stdout.write(`again with: npm run fuzz -- --payloads ${payloads} --seed ${seed}\n`);

const server = await startEmbeddedServer();
try {
  const { codePath: bundlePath } = await bundleWorkflows({
    workflowsPath: packageFile(import.meta.url, '../../workflows/index'),
  });
  const { address, namespace } = server;
  const stage = await openFuzzStage({ address, namespace, bundlePath });
  try {
    process.exitCode = (await playAll(stage)) === 0 ? 0 : 1;
  } finally {
    await stage.close();
  }
} finally {
  await server.stop();
}

/** How many runs did not hold. */
async function playAll(stage: FuzzStage): Promise<number> {
  let broken = 0;
  for (const [index, { fuzzed, count }] of shares().entries()) {
    const begun = Date.now();
    const fuzz = { runId: `fuzz-${index}`, seed: seed + index, count };
    const problems = await playFuzz(stage, fuzzed, fuzz).catch((error: unknown) => [String(error)]);
    if (problems.length > 0) broken++;
    const word = problems.length === 0 ? 'holds ' : 'BROKEN';
    const seconds = Math.round((Date.now() - begun) / 1_000);
    const row = `${word}  ${String(count).padStart(5)} payloads  ${fuzzed.title} (${seconds} s)`;
    process.stdout.write([row, ...problems.map((text) => `      ${text}`), ''].join('\n'));
  }
  process.stdout.write(`${FUZZ_TITLE}: ${broken} broken; seed ${seed}\n`);
  return broken;
}

interface Share {
  readonly fuzzed: FuzzedRun;
  readonly count: number;
}

/** The flood gets its own; the others get the rest in equal parts. */
function shares(): readonly Share[] {
  const flood = payloads > FLOOD ? FLOOD : 0;
  const each = Math.ceil((payloads - flood) / fuzzedRuns.length);
  return [
    ...fuzzedRuns.map((fuzzed) => ({ fuzzed, count: each })),
    ...(flood === 0 ? [] : [{ fuzzed: floodedRun, count: flood }]),
  ];
}

function wholeNumber(name: string, text: string, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value <= most) return value;
  throw new Error(`--${name} "${text}" is not a whole number up to ${most}`);
}
