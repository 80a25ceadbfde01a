import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalBytes,
  canonicalJson,
  canonicalProblem,
  digestOf,
  digestOfBytes,
  digestSchema,
  jsonSchema,
  NotCanonicalError,
} from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';

function refusalOf(value: unknown): NotCanonicalError {
  try {
    canonicalJson(value);
  } catch (error) {
    if (error instanceof NotCanonicalError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

class Amount {
  readonly value = 10;
}

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
const arrayWithHole: unknown[] = [];
arrayWithHole[1] = 'second';

describe('R-021 values that differ in meaning never share a digest', () => {
  test.each([
    ['an empty note and no note', { a: 1, note: '' }, { a: 1 }],
    ['null and absent', { a: null }, {}],
    ['a default said and a default left out', { retries: 0 }, {}],
    ['null and empty', { a: null }, { a: '' }],
    ['a number and its text', { a: 1 }, { a: '1' }],
    ['an empty list and an empty object', [], {}],
    ['another order of a list', [1, 2], [2, 1]],
    ['another version to hold', { if_version: 7 }, { if_version: 8 }],
    ['two ways to write é', 'é', 'e\u0301'],
  ])('%s', (_what, a, b) => {
    expect(digestOf(a)).not.toBe(digestOf(b));
  });

  test('equal digest if and only if equal canonical value', () => {
    const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false }).filter(isCanonical);
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(digestOf(a) === digestOf(b)).toBe(canonicalJson(a) === canonicalJson(b));
        expect(JSON.parse(canonicalJson(a))).toEqual(a);
      }),
    );
  });

  test('the order in which keys were set is irrelevant, at every depth', () => {
    const object = fc.dictionary(fc.string(), fc.dictionary(fc.string(), fc.string()));
    fc.assert(
      fc.property(object, (value) => {
        const turned = Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, inner]) => [key, Object.fromEntries(Object.entries(inner).reverse())]),
        );
        expect(digestOf(turned)).toBe(digestOf(value));
      }),
    );
  });
});

function isCanonical(value: unknown): boolean {
  try {
    canonicalJson(value);
    return true;
  } catch {
    // Unsafe integers and -0, which the generator also makes.
    return false;
  }
}

describe('R-021 what JSON would change silently is refused, naming the path', () => {
  test.each([
    ['undefined', { a: { b: undefined } }, '$.a.b', 'undefined'],
    ['a hole', { list: arrayWithHole }, '$.list[0]', 'undefined'],
    ['a function', [() => 1], '$[0]', 'function'],
    ['a symbol', Symbol('x'), '$', 'symbol'],
    ['a bigint', { a: 1n }, '$.a', 'bigint'],
    ['a date', { at: new Date(0) }, '$.at', 'plain objects'],
    ['a map', new Map(), '$', 'plain objects'],
    ['an instance', [new Amount()], '$[0]', 'plain objects'],
    ['a symbol key', { a: { [Symbol('x')]: 1 } }, '$.a', 'symbol keys'],
    ['-0', { a: -0 }, '$.a', '-0'],
    ['NaN', [Number.NaN], '$[0]', 'NaN'],
    ['infinity', Number.POSITIVE_INFINITY, '$', 'Infinity'],
    ['an unsafe integer', { a: 2 ** 53 }, '$.a', 'integer beyond'],
    ['a big float without fraction', 1e21, '$', 'integer beyond'],
    ['half a surrogate pair', { a: '\ud800' }, '$.a', 'surrogate'],
    ['half a surrogate pair as key', { '\udc00': 1 }, '$.\udc00', 'surrogate'],
    ['a toJSON of its own', { toJSON: () => 1 }, '$.toJSON', 'function'],
  ])('%s', (_what, value, path, why) => {
    const error = refusalOf(value);
    expect(error.path).toBe(path);
    expect(error.message).toContain(`payload at ${path}: `);
    expect(error.message).toContain(why);
  });

  test('nesting is limited', () => {
    expect(canonicalJson(deep(limits.payloadDepthMax))).toContain('[[1]]');
    expect(refusalOf(deep(limits.payloadDepthMax + 1)).message).toContain('nested deeper');
  });

  test('a cycle is refused like any endless nesting', () => {
    const value: Record<string, unknown> = {};
    value['self'] = value;
    expect(refusalOf(value).message).toContain('nested deeper');
  });
});

test('what fails while it is read is a bug of its maker, and no word about its form', () => {
  const broken = Object.defineProperty({}, 'a', {
    enumerable: true,
    get: () => {
      throw new TypeError('no value yet');
    },
  });
  expect(() => canonicalProblem(broken)).toThrow('no value yet');
  expect(canonicalProblem({ a: Number.NaN })).toContain('$.a');
  expect(canonicalProblem({ a: 1 })).toBeNull();
});

describe('RFC 8785', () => {
  test.each([
    [[Number('333333333.33333329'), 4.5, 2e-3, 1e-27], '[333333333.3333333,4.5,0.002,1e-27]'],
    ['€$\u000f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    [{ b: [null, true, false], a: {} }, '{"a":{},"b":[null,true,false]}'],
    ['\u2028\u2029', '"\u2028\u2029"'],
    [{ ['__proto__']: 1 }, '{"__proto__":1}'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
  ])('%j', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  test('keys are sorted by UTF-16 code units', () => {
    const text = canonicalJson({ '\u20ac': 0, '\r': 0, '\ufb33': 0, '1': 0, '😀': 0, ö: 0 });
    expect([...text.matchAll(/"([^"]+)":/g)].map((match) => match[1])).toEqual([
      '\\r',
      '1',
      'ö',
      '\u20ac',
      '😀',
      '\ufb33',
    ]);
  });

  test('objects without a prototype are plain', () => {
    const bare: Record<string, unknown> = Object.create(null);
    bare['a'] = 1;
    expect(canonicalJson(bare)).toBe('{"a":1}');
  });
});

test('a digest is SHA-256 over the exact bytes, with the algorithm before it', () => {
  const empty = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  expect(digestOfBytes(new Uint8Array())).toBe(empty);
  expect(digestOf({ a: 'é' })).toBe(digestOfBytes(canonicalBytes({ a: 'é' })));
  expect(digestSchema.parse(empty)).toBe(empty);
  for (const bad of [empty.slice(7), empty.toUpperCase(), `${empty}0`, 7, null])
    expect(digestSchema.safeParse(bad).success).toBe(false);
});

test('what has no canonical form is no JSON to be stored, and why is said', () => {
  expect(jsonSchema.safeParse({ a: [1, 'b', null] }).success).toBe(true);
  expect(canonicalProblem({ a: [1, 'b', null] })).toBeNull();
  const refused = jsonSchema.safeParse({ a: -0 });
  expect(refused.error?.issues[0]?.message).toBe(
    'not canonical: payload at $.a: -0 would become 0; send 0',
  );
});

test('an error that is no refusal of the value is a bug, and loud', () => {
  const broken = {
    get a(): never {
      throw new RangeError('gone');
    },
  };
  expect(() => canonicalProblem(broken)).toThrow(RangeError);
});
