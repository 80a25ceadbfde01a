import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mailsIn } from '../../examples/support-desk/mails.ts';

const path = new URL('../../examples/support-desk/mails.jsonl', import.meta.url);
const mails = mailsIn(readFileSync(path, 'utf8'));

test('the fixture has at least twenty mails, all from example.com', () => {
  expect(mails.length).toBeGreaterThanOrEqual(20);
  expect(mails.filter(({ from }) => !from.endsWith('@example.com'))).toEqual([]);
});

test('two equal-looking requests of one sender are two mails', () => {
  const texts = mails.map(({ from, subject, body }) => JSON.stringify({ from, subject, body }));
  const equal = texts.filter((text, index) => texts.indexOf(text) !== index);
  expect(equal).toHaveLength(1);
});

test.each([
  ['a quotation mark', '"'],
  ['U+2028', '\u2028'],
  ['U+2029', '\u2029'],
  ['CRLF', '\r\n'],
  ['an emoji', '🎉'],
  ['a decomposed letter', 'o\u0301'],
  ['a backslash', '\\'],
])('the fixture has %s, and it stays inside its mail', (_, text) => {
  expect(mails.filter(({ body }) => body.includes(text))).not.toEqual([]);
});

test('a file that was cut off, or has a line that is no mail, is refused with its line', () => {
  const whole = '{"id":"1","from":"a@example.com","subject":"","body":""}\n';
  expect(() => mailsIn(`${whole}{"id":"2"`)).toThrow('line 2 does not end');
  expect(() => mailsIn(`${whole}{"id":"2"}\n`)).toThrow('line 2 is no mail');
});
