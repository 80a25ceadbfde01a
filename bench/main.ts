// npm run bench -- [--steps 20] [--rounds 5] [--lanes 1] [--seed 1] [--json]
// A protected step against a raw one: same server, same receiver, interleaved. It judges nothing.

import { parseArgs } from 'node:util';
import { ratios, type SideFigures } from './figures.ts';
import { type BenchConfig, runRounds } from './rounds.ts';
import { openBenchStage } from './stage.ts';

const OPTIONS = {
  steps: { type: 'string', default: '20' },
  rounds: { type: 'string', default: '5' },
  lanes: { type: 'string', default: '1' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
} as const;

const COLUMN = 12;

const { values } = parseArgs({ options: OPTIONS });
const config: BenchConfig = {
  steps: whole('steps', 2),
  rounds: whole('rounds', 1),
  lanes: whole('lanes', 1),
  seed: whole('seed', 0),
};
const began = performance.now();
const stage = await openBenchStage();
try {
  const sides = await runRounds(stage, config);
  const ratio = ratios(sides.protected, sides.raw);
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  const line = { config: { ...config, node: process.version }, ...sides, ratio, seconds };
  process.stdout.write(values.json ? `${JSON.stringify(line)}\n` : table(line));
} finally {
  await stage.close();
}

function whole(name: 'steps' | 'rounds' | 'lanes' | 'seed', least: number): number {
  const text = values[name];
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least) return value;
  throw new Error(`--${name} "${text}" is not a whole number of at least ${least}`);
}

interface Line {
  readonly config: BenchConfig;
  readonly protected: SideFigures;
  readonly raw: SideFigures;
  readonly ratio: ReturnType<typeof ratios>;
  readonly seconds: number;
}

function table({ config: { steps, rounds, lanes, seed }, ratio, seconds, ...sides }: Line): string {
  const row = (what: string, cells: readonly unknown[]) =>
    what.padEnd(24) + cells.map((cell) => String(cell).padStart(COLUMN)).join('');
  const figure = (what: string, of: (side: SideFigures) => number, over: number) =>
    row(what, [of(sides.protected), of(sides.raw), over]);
  return `${[
    `${rounds} rounds of ${lanes} x ${steps} steps a side, seed ${seed}, ${seconds} s`,
    row('per step', ['protected', 'raw', 'ratio']),
    figure('latency p50, ms', (side) => side.latencyMs.p50, ratio.latencyP50),
    figure('latency p95, ms', (side) => side.latencyMs.p95, ratio.latencyP95),
    figure('steps per second', (side) => side.stepsPerSecond, ratio.stepsPerSecond),
    figure('history, bytes', (side) => side.historyBytesPerStep, ratio.historyBytesPerStep),
    figure('history, events', (side) => side.historyEventsPerStep, ratio.historyEventsPerStep),
    row('effects at the receiver', [sides.protected.effects, sides.raw.effects]),
  ].join('\n')}\n`;
}
