import { expect, test } from 'vitest';
import { elapsedMs } from '../../core/instant.ts';

const at = (monotonicMs: number, wallMs: number) => ({ monotonicMs, wallMs });

test.each([
  ['both agree', at(100, 1_000), at(150, 1_050), 50],
  ['the machine slept: the monotonic clock stood still', at(100, 1_000), at(101, 9_000), 8_000],
  ['the wall clock was set back', at(100, 1_000), at(400, 200), 300],
  ['nothing passed', at(100, 1_000), at(100, 1_000), 0],
  ['both went back', at(100, 1_000), at(90, 900), 0],
])('elapsed time, the larger of two clocks: %s', (_name, from, now, ms) => {
  expect(elapsedMs(from, now)).toBe(ms);
});
