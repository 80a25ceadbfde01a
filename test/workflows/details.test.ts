import { describe, expect, test } from 'vitest';
import { resolveSchema } from '../../core/commands.ts';
import { limits } from '../../core/limits.ts';
import { problemOf } from '../../workflows/command-problem.ts';
import { escaped, fencedJson } from '../../workflows/markdown.ts';
import { payloadConverter, UNDECODABLE } from '../../workflows/payload-converter.ts';

describe('text from outside in Markdown', () => {
  test.each([
    ['<img src=x onerror=alert(1)>', /^\\<img src\\=x/],
    ['[a](http://x)', /^\\\[a\\\]\\\(/],
    ['line\nbreak\u2028and\u0000more', /^line break and more$/],
    ['`code` **bold**', /^\\`code\\` \\\*\\\*bold/],
  ])('%s has no meaning there', (text, expected) => {
    expect(escaped(text)).toMatch(expected);
  });

  test('it is cut, and never in half a character', () => {
    const text = escaped('😀'.repeat(300), 201);
    expect(text.isWellFormed()).toBe(true);
    expect(text.length).toBeLessThan(limits.noteCharsMax);
  });

  test('JSON to paste is pretty-printed, and cannot end its own fence', () => {
    const fenced = fencedJson({ reason: '``` <b>' });
    expect(fenced.split('\n').length).toBe(5);
    expect(fenced.match(/```/g)?.length).toBe(2);
    expect(JSON.parse(fenced.replace(/^```json\n|\n```$/g, ''))).toEqual({ reason: '``` <b>' });
  });
});

describe('R-134 a command that cannot be read', () => {
  test.each<[unknown, RegExp]>([
    [undefined, /no argument/],
    [[{}], /array/],
    [{ [UNDECODABLE]: 'Error: Unknown encoding' }, /cannot be decoded .*Unknown encoding/],
    [{ verb: 'dance' }, /verb: /],
    ['yes', /command: /],
    [{ verb: 'abandon', id: 'x', actor: 'a', reason: 'r', actionId: 'r.t1.c1' }, /recordVersion/],
  ])('%j is explained', (raw, words) => {
    expect(problemOf(resolveSchema, raw)).toMatch(words);
  });
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
