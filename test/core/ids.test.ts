import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  actionIdOf,
  attemptIdOf,
  branchOf,
  branchPosition,
  callPosition,
  compareSendTokens,
  isActionOf,
  isPosition,
  modelPosition,
  positionSchema,
  receiverKeyOf,
  resultIdOf,
  runIdProblem,
  runIdSchema,
  scopeNameSchema,
  sendTokenSchema,
  unknownIdOf,
} from '../../core/ids.ts';
import { limits } from '../../core/limits.ts';

const positions = [
  't3.c1',
  't12.m',
  'charge',
  'b2.t3.c1',
  'b2.charge',
  'a-b_9',
  't',
  't1',
  'm',
  'c1',
];
const noPositions = ['', 't0.m', 't1.c0', '.m', 'Charge', 'b0.m', 't1.m.m', 'a.b', 'x~1'];

/** Pieces from which a careless scheme would build two equal ids. */
const piece = fc.constantFrom('a', 'b2', 't3', 't3.c1', 'm', 'c1', 'charge', '~', '.', 'é', '/');
const runId = fc
  .array(piece, { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join('.'))
  .filter((id) => runIdProblem(id) === null);
const position = fc
  .array(piece, { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('.'))
  .filter(isPosition);

describe('run ids', () => {
  test.each([
    'invoice-42',
    'a:b/c',
    'ünïcode-漢字-😀',
    'two words',
    't3',
    'a.t3.c1',
    'x'.repeat(limits.runIdCharsMax),
  ])('R-015 %s is a run id', (id) => {
    expect(runIdProblem(id)).toBeNull();
    expect(runIdSchema.parse(id)).toBe(id);
  });

  test.each([
    ['', 'empty'],
    ['x'.repeat(limits.runIdCharsMax + 1), 'characters'],
    ['a\u0000b', 'control characters'],
    ['a\u007f', 'control characters'],
    ['a\n', 'control characters'],
    [' a', 'blanks at an end'],
    ['a ', 'blanks at an end'],
    ['a\ud800', 'surrogate'],
    ['unknown.a', 'begins the ids of questions'],
    ['a.t3', 'ends like a position'],
    ['a.b2', 'ends like a position'],
  ])('R-015 %j is refused as run id, because: %s', (id, why) => {
    expect(runIdProblem(id)).toContain(why);
    const parsed = runIdSchema.safeParse(id);
    expect(parsed.error?.issues[0]?.message).toContain(`run id "${id}"`);
  });
});

describe('positions', () => {
  test.each(positions)('R-018 %s is a position', (text) => {
    expect(isPosition(text)).toBe(true);
    expect(positionSchema.parse(text)).toBe(text);
  });

  test.each(noPositions)('R-018 %j is none', (text) => {
    expect(isPosition(text)).toBe(false);
    expect(positionSchema.safeParse(text).success).toBe(false);
  });

  test('R-018 turn and call give the position, and nothing random does', () => {
    expect([callPosition(3, 1), modelPosition(3)]).toEqual(['t3.c1', 't3.m']);
    expect([callPosition(1, 1), modelPosition(12)].every(isPosition)).toBe(true);
  });
});

test.each([
  ['r.t1.c1', true],
  ['r.charge', true],
  ['r.s.t1.c1', false],
  ['rs.t1.c1', false],
  ['s.t1.c1', false],
  ['r', false],
])('whether %s is an action of run "r": %s', (actionId, isOne) => {
  expect(isActionOf('r', actionId)).toBe(isOne);
});

describe('ids that are put together', () => {
  test('R-015 R-018 two different pairs of run id and position never give one action id', () => {
    fc.assert(
      fc.property(runId, position, runId, position, (runA, a, runB, b) => {
        if (actionIdOf(runA, a) === actionIdOf(runB, b)) expect([runA, a]).toEqual([runB, b]);
      }),
      { numRuns: 3_000 },
    );
  });

  test('R-018 the ids that would collide are exactly those that are refused', () => {
    expect(actionIdOf('x', 't3.m')).toBe(actionIdOf('x.t3', 'm'));
    expect(runIdProblem('x.t3')).not.toBeNull();
    expect(actionIdOf('x', 'b2.charge')).toBe(actionIdOf('x.b2', 'charge'));
    expect(runIdProblem('x.b2')).not.toBeNull();
  });

  test('R-015 R-016 an attempt id is its action id and something fresh, never that id', () => {
    const random = '0123-4567-89ab-cdef-0123';
    expect(attemptIdOf('r.t1.c1', random)).toBe('r.t1.c1~0123456789abcdef');
    expect(attemptIdOf('r.t1.c1', 'ffff')).not.toBe(attemptIdOf('r.t1.c1', 'eeee'));
    fc.assert(
      fc.property(runId, position, runId, position, (runA, a, runB, b) => {
        expect(attemptIdOf(actionIdOf(runA, a), 'f00d')).not.toBe(actionIdOf(runB, b));
      }),
    );
  });

  test('R-023 the result id comes from the attempt id alone', () => {
    expect(resultIdOf('r.t1.c1~f00d')).toBe('r.t1.c1~f00d.result');
  });

  test('R-024 the receiver key carries its scope, and no scope name can hold its separator', () => {
    const scope = { installation: 'acme', namespace: 'prod' };
    expect(receiverKeyOf(scope, 'a:b/ü.t1.c1')).toBe('acme/prod/a:b/ü.t1.c1');
    expect(receiverKeyOf({ ...scope, installation: 'acme2' }, 'x')).not.toBe(
      receiverKeyOf(scope, 'x'),
    );
    expect(scopeNameSchema.parse('acme_1.eu-x')).toBe('acme_1.eu-x');
    for (const bad of ['', 'a/b', '-a', 'ü', 'x'.repeat(64)])
      expect(scopeNameSchema.safeParse(bad).success).toBe(false);
  });

  test('the question of an action has one id', () => {
    expect(unknownIdOf('r.t1.c1')).toBe('unknown.r.t1.c1');
  });
});

test.each([
  [{ epoch: 1, number: 9 }, { epoch: 2, number: 1 }, -1],
  [{ epoch: 2, number: 1 }, { epoch: 1, number: 9 }, 1],
  [{ epoch: 2, number: 1 }, { epoch: 2, number: 2 }, -1],
  [{ epoch: 2, number: 10 }, { epoch: 2, number: 9 }, 1],
  [{ epoch: 2, number: 2 }, { epoch: 2, number: 2 }, 0],
])('R-016 send tokens compare by epoch, then by number: %j with %j is %i', (a, b, sign) => {
  expect(Math.sign(compareSendTokens(a, b))).toBe(sign);
  expect(sendTokenSchema.safeParse({ epoch: 0, number: 1 }).success).toBe(false);
});

test.each([
  [1, 't3.m', 't3.m'],
  [2, 't3.m', 'b2.t3.m'],
  [12, 'charge', 'b12.charge'],
])('R-098 under goal %i the position %s is %s', (revision, position, branched) => {
  expect(branchPosition(revision, position)).toBe(branched);
  expect(branchOf(branched)).toBe(revision);
  expect(isPosition(branched)).toBe(true);
});

test('a position has one branch and one spelling', () => {
  for (const wrong of ['b1.t3.m', 'b0.t3.m', 'b02.t3.m', 'b2.b3.t3.m'])
    expect(isPosition(wrong)).toBe(false);
});
