import { expect, test } from 'vitest';
import { boundedWords } from '../../core/words.ts';

test('words are cut, and a pair that the cut would halve does not stay halved', () => {
  expect(boundedWords('abc', 2)).toBe('ab');
  expect(boundedWords('a😀', 2)).toBe('a\ufffd');
  expect(boundedWords('a😀', 3)).toBe('a😀');
});

test('half a pair that came from outside is replaced', () => {
  expect(boundedWords('a\ud800b', 9)).toBe('a\ufffdb');
});
