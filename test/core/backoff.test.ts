import { describe, expect, test } from 'vitest';
import { attemptBackoff, fullJitter, infraBackoff, inquiryBackoff } from '../../core/backoff.ts';

/** A small seeded generator (mulberry32), so that the spread is the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('fullJitter', () => {
  test('R-048 200 clients that fail at the same instant spread over the whole window', () => {
    const random = seeded(20260821);
    const ceiling = 8_000;
    const waits = Array.from({ length: 200 }, () => fullJitter(attemptBackoff, 4, random()));
    const buckets = new Array(10).fill(0);
    for (const wait of waits) buckets[Math.floor((wait - 1) / (ceiling / 10))]++;
    expect(Math.min(...buckets)).toBeGreaterThanOrEqual(8);
    expect(Math.max(...buckets)).toBeLessThanOrEqual(40);
    expect(Math.max(...waits)).toBeLessThanOrEqual(ceiling);
    expect(new Set(waits).size).toBeGreaterThan(180);
  });

  test.each([
    [1, 1_000],
    [2, 2_000],
    [6, 32_000],
    [7, 60_000],
    [5_000, 60_000],
  ])('R-048 after %i failures the wait is at most %i ms and never 0', (failures, ceiling) => {
    expect(fullJitter(attemptBackoff, failures, 0.999999999)).toBe(ceiling);
    expect(fullJitter(attemptBackoff, failures, 0)).toBe(1);
  });

  test('before the first failure the base is the ceiling', () => {
    expect(fullJitter(infraBackoff, 0, 0.999999999)).toBe(infraBackoff.baseMs);
  });

  test('R-048 inquiries have a cap of their own', () => {
    expect(fullJitter(inquiryBackoff, 99, 0.999999999)).toBe(inquiryBackoff.maxMs);
  });
});
