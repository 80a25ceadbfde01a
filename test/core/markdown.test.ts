import { describe, expect, test } from 'vitest';
import { limits } from '../../core/limits.ts';
import { codeSpan, escaped, fencedJson, summaryText } from '../../core/markdown.ts';

describe('text from outside in Markdown', () => {
  test.each([
    ['<img src=x onerror=alert(1)>', '\\<img src=x onerror=alert\\(1\\)\\>'],
    ['[a](http://x)', '\\[a\\]\\(http\\://x\\)'],
    ['line\nbreak\u2028and\u0000more', 'line break and more'],
    ['`code` **bold**', '\\`code\\` \\*\\*bold\\*\\*'],
    ['$x$ &lt; a|b ~c~ #d', '\\$x\\$ \\&lt; a\\|b \\~c\\~ \\#d'],
    // Before these the renderer would show the backslash.
    ['"say" it\'s a=b 5%', '"say" it\'s a=b 5%'],
  ])('%s has no meaning there', (text, expected) => {
    expect(escaped(text)).toBe(expected);
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

test('a command to copy is shown without a backslash, and cannot end its own backticks', () => {
  expect(codeSpan('holdfast approve a-1.t2.c1')).toBe('`holdfast approve a-1.t2.c1`');
  expect(codeSpan('a`b\nc*<i>')).toBe("`a'b c*<i>`");
  expect(codeSpan('abcdef', 3)).toBe('`abc…`');
});

describe('a summary, read as text here and as Markdown there', () => {
  test.each([
    'unknown: send_notice invoice-42.t1.c1',
    'Answer the mails; open one ticket each (no replies).',
    'разобрать почту, "всю"',
    '',
  ])('%j stays as it is', (text) => {
    expect(summaryText(text)).toBe(text);
  });

  test.each([
    ['read <b>all</b>\nmails', '`read <b>all</b> mails`'],
    ['a `b` *c*', "`a 'b' *c*`"],
    ['unknown: x _b_.t1.c1', '`unknown: x _b_.t1.c1`'],
    ['unknown: x__y__z', '`unknown: x__y__z`'],
    ['see https://example.com', '`see https://example.com`'],
    ['1. read', '`1. read`'],
    ['- read', '`- read`'],
    ['# read', '`# read`'],
  ])('%j has no meaning: %j', (text, expected) => {
    expect(summaryText(text)).toBe(expected);
  });

  test('it is cut inside its backticks', () => {
    expect(summaryText('abcdef', 3)).toBe('abc…');
    expect(summaryText('<bcdef', 3)).toBe('`<bc…`');
  });
});
