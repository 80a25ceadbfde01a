// Would catch: a draft or a lock whose name is another file's, another process's, or too long.

import { expect, test } from 'vitest';
import {
  draftName,
  draftPrefix,
  isOwnName,
  lockName,
  parseDraftName,
  withdrawnName,
} from '../../../activities/tools/files/names.ts';

const key = 'shop/default/invoice-42.t1.c1';

test('C1 a draft is named after the action, the attempt and chance, and is read back', () => {
  const name = draftName(key, 12, '00c0ffee');
  expect(name).toMatch(/^\.holdfast-[0-9a-f]{24}-12-00c0ffee\.draft$/);
  expect(name.startsWith(draftPrefix(key))).toBe(true);
  expect(parseDraftName(name)).toMatchObject({ number: 12, random: '00c0ffee', state: 'draft' });
  expect(parseDraftName(withdrawnName(name))).toMatchObject({ number: 12, state: 'withdrawn' });
  expect(draftPrefix('another')).not.toBe(draftPrefix(key));
});

test('C9 no name of ours grows with the name of the target or with the key', () => {
  const names = [draftName('k'.repeat(4_000), 999_999_999, '00c0ffee'), lockName('é'.repeat(200))];
  for (const name of names) expect(Buffer.byteLength(withdrawnName(name))).toBeLessThan(80);
});

test('K-115 C10 two spellings of one name share a lock, two names do not', () => {
  expect(lockName('caf\u00e9')).toBe(lockName('cafe\u0301'));
  expect(lockName('README')).toBe(lockName('readme'));
  expect(lockName('stra\u00dfe')).toBe(lockName('STRASSE'));
  expect(lockName('a\u200db')).toBe(lockName('ab'));
  expect(lockName('a')).not.toBe(lockName('b'));
});

test.each([
  ['.holdfast-x', true],
  ['.HOLDFAST-x', true],
  ['.holdfa\u017ft-x', true],
  ['.hold\u200dfast-x', true],
  ['.holdfast', false],
  ['holdfast-x', false],
])('%s is a name of ours: %s', (name, own) => {
  expect(isOwnName(name)).toBe(own);
});

test.each([
  'notes.txt',
  '.holdfast-0123.draft',
  lockName('a'),
  `${draftName(key, 1, '00c0ffee')}.bak`,
  draftName(key, 0, '00c0ffee'),
])('%s is no draft', (name) => {
  expect(parseDraftName(name)).toBeNull();
});
