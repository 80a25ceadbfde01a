// What makes a well-formed command nearly well-formed: each spoils it in one place, as text,
// because not everything that can be sent is a value of JavaScript.

import * as fc from 'fast-check';
import type { Command } from './command-table.ts';

type Spoiler = (command: Command) => fc.Arbitrary<string>;

const json = (value: unknown) => fc.constant(JSON.stringify(value));
const fieldOf = (command: Command) => fc.constantFrom(...Object.keys(command));
/** In place of one field, a text that is JSON or nearly. */
const replaced = (command: Command, value: fc.Arbitrary<string>) =>
  fc.tuple(fieldOf(command), value).map(([field, text]) => {
    const marked = { ...command, [field]: 'THE FIELD' };
    return JSON.stringify(marked).replace('"THE FIELD"', () => text);
  });

const HALF = ['"\\ud800"', '"\\udc00 and more"', '"ok \\ud83d"'];
const NUMBERS = ['1e309', '-1', '0', '1.5', '9007199254740993', '1e21', '-0'];
const KINDS = ['null', 'true', '[]', '{}', '""', '[["x"]]', '{"toString":1}', '"\\u0000"'];
const KEYS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'status', '', 'then'];

export const spoilers: { readonly [name: string]: Spoiler } = {
  'a field missing': (command) =>
    fieldOf(command).map((gone) =>
      JSON.stringify(Object.fromEntries(Object.entries(command).filter(([key]) => key !== gone))),
    ),
  'a field more': (command) =>
    fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...KINDS)).map(([key, value]) => {
      return `{${JSON.stringify(key)}:${value},${JSON.stringify(command).slice(1)}`;
    }),
  'a field of another kind': (command) => replaced(command, fc.constantFrom(...KINDS)),
  'half a surrogate pair': (command) => replaced(command, fc.constantFrom(...HALF)),
  'a number that is none': (command) => replaced(command, fc.constantFrom(...NUMBERS)),
  'text beyond its limit': (command) =>
    replaced(
      command,
      fc.integer({ min: 2_001, max: 9_000 }).map((length) => JSON.stringify('字'.repeat(length))),
    ),
  'a field without a bottom': (command) =>
    replaced(
      command,
      fc.constantFrom(500, 60_000).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
    ),
  'in brackets': (command) => json([command]),
  'as text': (command) => json(JSON.stringify(command)),
  'under a name': (command) => json({ command }),
  'keys in capitals': (command) =>
    json(Object.fromEntries(Object.entries(command).map(([key, v]) => [key.toUpperCase(), v]))),
  'as if it could not be decoded': (command) =>
    fc
      .constantFrom(...KINDS, '"Error: made up"', `${'['.repeat(60_000)}${']'.repeat(60_000)}`)
      .map((value) => `{"holdfastUndecodable":${value},${JSON.stringify(command).slice(1)}`),
};
