import { describe, expect, test } from 'vitest';
import { resolveSchema } from '../../core/commands.ts';
import { problemOf } from '../../workflows/command-problem.ts';
import { payloadConverter, UNDECODABLE } from '../../workflows/payload-converter.ts';

describe('R-134 a command that cannot be read', () => {
  test.each<[unknown, RegExp]>([
    [undefined, /no argument/],
    [[{}], /array/],
    [{ [UNDECODABLE]: 'Error: Unknown encoding' }, /cannot be decoded .*Unknown encoding/],
    [{ [UNDECODABLE]: 'x'.repeat(1_900_000) }, /^.{400,600}; send JSON$/],
    [{ [UNDECODABLE]: { toString: 1 } }, /Unrecognized|Invalid/],
    [{ verb: 'dance' }, /verb: /],
    ['yes', /command: /],
    [{ verb: 'abandon', id: 'x', actor: 'a', reason: 'r', actionId: 'r.t1.c1' }, /recordVersion/],
  ])('%j is explained', (raw, words) => {
    expect(problemOf(resolveSchema, raw)).toMatch(words);
  });
});

test('R-134 what only looks like a payload that cannot be decoded is read as it is', () => {
  const bottomless: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
  expect(problemOf(resolveSchema, { [UNDECODABLE]: bottomless })).toMatch(/verb/);
});

describe('R-134 the payload converter', () => {
  const text = (data: string) => new TextEncoder().encode(data);
  test.each([
    ['an unknown encoding', { metadata: { encoding: text('binary/encrypted') }, data: text('x') }],
    ['broken JSON', { metadata: { encoding: text('json/plain') }, data: text('{broken') }],
    ['no metadata', { data: text('{}') }],
  ])('%s becomes a marker, never a throw', (_name, payload) => {
    expect(payloadConverter.fromPayload(payload)).toHaveProperty(UNDECODABLE);
  });

  test('everything else passes as it is', () => {
    const value = { a: [1, 'zwölf', null], b: true };
    expect(payloadConverter.fromPayload(payloadConverter.toPayload(value))).toEqual(value);
    expect(payloadConverter.fromPayload(payloadConverter.toPayload(undefined))).toBeUndefined();
  });
});
