// `npm run faults -- --repeat 5 [--seed n] [--only scenarios|floods|revocations]`: every scenario
// that often, with victims drawn from the seed; beside each round ten revocations in floods of
// signals, and ten at random moments. Prints a table; exit code 1 when anything did not hold.

import { parseArgs } from 'node:util';
import { startEmbeddedServer } from '../../workers/embedded-server.ts';
import { bundleWorkflows, packageFile } from '../../workers/workflow-bundle.ts';
import { type FaultServer, openFaultStage } from '../support/fault-stage.ts';
import { randomFrom } from '../support/random.ts';
import { FLOOD_TITLE, floodProblems, openFloodStage, playFlood } from './flood.ts';
import { play, problemsOf } from './harness.ts';
import {
  nthPlay,
  openRandomStage,
  playRandom,
  RANDOM_TITLE,
  randomProblems,
  struckText,
} from './revoke-random.ts';
import { STEPS, scenarios } from './scenarios.ts';

const REPEAT_MAX = 1_000;
/** Fifty at `--repeat 5`: a revocation seldom strikes where it hurts. */
const REVOCATIONS_PER_ROUND = 10;
const kinds = ['scenarios', 'floods', 'revocations'] as const;
type Kind = (typeof kinds)[number];

const { values: flags } = parseArgs({
  options: {
    repeat: { type: 'string', default: '1' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
});
const played = kinds.filter((kind) => flags.only === undefined || flags.only === kind);
if (played.length === 0) throw new Error(`--only "${flags.only}" is none of ${kinds.join(', ')}`);
const repeat = wholeNumber('repeat', flags.repeat, REPEAT_MAX);
const seed = wholeNumber('seed', flags.seed ?? String(Date.now() % 2 ** 31), 2 ** 31);
const only = flags.only === undefined ? '' : ` --only ${flags.only}`;
process.stdout.write(`again with: npm run faults -- --repeat ${repeat} --seed ${seed}${only}\n`);

const server = await startEmbeddedServer();
try {
  const { codePath: bundlePath } = await bundleWorkflows({
    workflowsPath: packageFile(import.meta.url, '../../workflows/index'),
    payloadConverterPath: packageFile(import.meta.url, '../../workflows/payload-converter'),
  });
  const place = { address: server.address, namespace: server.namespace, bundlePath };
  process.exitCode = (await playAll(place)) === 0 ? 0 : 1;
} finally {
  await server.stop();
}

type Tell = (title: string, problems: readonly string[]) => void;
/** One round of one kind. */
type PlayRound = (round: number, tell: Tell) => Promise<void>;

/** How many plays did not hold. */
async function playAll(place: FaultServer): Promise<number> {
  let plays = 0;
  let broken = 0;
  const open: Record<Kind, () => Promise<[PlayRound, () => Promise<void>]>> = {
    scenarios: () => openScenarios(place),
    floods: () => openFloods(place),
    revocations: () => openRevocations(place),
  };
  const opened = await Promise.all(played.map((kind) => open[kind]()));
  try {
    for (let round = 1; round <= repeat; round++)
      for (const [playRound] of opened)
        await playRound(round, (title, problems) => {
          plays += 1;
          if (problems.length > 0) broken += 1;
          const word = problems.length === 0 ? 'holds ' : 'BROKEN';
          const row = `${String(round).padStart(4)}  ${word}  ${title}`;
          process.stdout.write([row, ...problems.map((text) => `      ${text}`), ''].join('\n'));
        });
  } finally {
    for (const [, close] of opened) await close();
  }
  process.stdout.write(`${plays} plays, ${broken} broken; seed ${seed}\n`);
  return broken;
}

async function openScenarios(place: FaultServer): Promise<[PlayRound, () => Promise<void>]> {
  const stage = await openFaultStage(place);
  const random = randomFrom(seed);
  const playRound: PlayRound = async (round, tell) => {
    for (const [index, scenario] of scenarios.entries()) {
      const victim = Math.floor(random() * STEPS);
      const runId = `round-${round}-scenario-${index}`;
      const problems = await problemsIn(async () =>
        problemsOf(scenario, await play(stage, scenario, { runId, victim })),
      );
      tell(`victim ${victim}  ${scenario.title}`, problems);
    }
  };
  return [playRound, () => stage.close()];
}

async function openFloods(place: FaultServer): Promise<[PlayRound, () => Promise<void>]> {
  const stage = await openFloodStage(place, seed);
  const random = randomFrom(seed);
  const playRound: PlayRound = async (round, tell) => {
    for (let n = 1; n <= REVOCATIONS_PER_ROUND; n++) {
      const runId = `round-${round}-flood-${n}`;
      const problems = await problemsIn(async () =>
        floodProblems(await playFlood(stage, { runId, random })),
      );
      tell(`flood ${n}   ${FLOOD_TITLE}`, problems);
    }
  };
  return [playRound, () => stage.close()];
}

async function openRevocations(place: FaultServer): Promise<[PlayRound, () => Promise<void>]> {
  const stage = await openRandomStage(place);
  const random = randomFrom(seed);
  const sums = { revocations: 0, scheduled: 0, gates: 0, untold: 0 };
  const playRound: PlayRound = async (round, tell) => {
    for (let n = 1; n <= REVOCATIONS_PER_ROUND; n++) {
      const runId = `round-${round}-random-${n}`;
      const { shape, by } = nthPlay((round - 1) * REVOCATIONS_PER_ROUND + n);
      let struck = '';
      const problems = await problemsIn(async () => {
        const seen = await playRandom(stage, { runId, shape, by, random });
        struck = struckText(seen);
        sums.revocations += 1;
        for (const name of ['scheduled', 'gates', 'untold'] as const)
          sums[name] += seen[name].length;
        return randomProblems(seen);
      });
      tell(`${shape} by ${by} ${struck}  ${RANDOM_TITLE}`, problems);
    }
  };
  const close = async () => {
    const { revocations, scheduled, gates, untold } = sums;
    process.stdout.write(
      `${revocations} revocations; afterwards scheduled ${scheduled}, gates ${gates}; ` +
        `effects without a fact ${untold}\n`,
    );
    await stage.close();
  };
  return [playRound, close];
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
