import { describe, expect, test } from 'vitest';
import {
  authorityCommands,
  lateFactSchema,
  resolutionVerbSchema,
  resolveSchema,
  stopSchema,
} from '../../core/commands.ts';
import { digestOf } from '../../core/digest.ts';
import { actionIdOf, unknownIdOf } from '../../core/ids.ts';
import { limits } from '../../core/limits.ts';

const base = {
  id: 'answer-1',
  actor: 'ada',
  reason: 'looked it up',
  actionId: 'r.t1.c1',
  recordVersion: 4,
};
const evidence = { kind: 'receiver_query', source: 'GET /tickets?key=…' };
const complete = {
  confirm_executed: { ...base, verb: 'confirm_executed', evidence },
  confirm_not_executed: {
    ...base,
    verb: 'confirm_not_executed',
    evidence,
    coverage: 'both attempts, until 12:00, the receiver was shut since',
    oldRequestCannotArrive: true,
  },
  authorize_retry: { ...base, verb: 'authorize_retry', acceptsPossibleDuplicate: true },
  abandon: { ...base, verb: 'abandon' },
  confirm_distinct: { ...base, verb: 'confirm_distinct', distinctFrom: 'r.t2.c1' },
  settle_dispute: { ...base, verb: 'settle_dispute', states: 'executed', evidence },
};
const half = 'x\ud800';

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

const accepts = (command: unknown) => resolveSchema.safeParse(command).success;

describe('resolve', () => {
  test.each(Object.values(complete))('R-134 $verb is complete and accepted', (command) => {
    expect(resolveSchema.parse(command)).toEqual(command);
    for (const field of Object.keys(command)) {
      const { [field as 'id']: _gone, ...rest } = command;
      expect([field, accepts(rest)]).toEqual([field, false]);
    }
  });

  test.each(Object.values(complete))(
    'R-014 $verb with a field of another is refused',
    (command) => {
      expect(accepts({ ...command, status: 'running' })).toBe(false);
      expect(accepts({ ...command, safe_new_key: true })).toBe(false);
    },
  );

  test.each(['confirm_executed', 'settle_dispute'] as const)(
    'R-134 %s may bring external id and result',
    (verb) => {
      const command = { ...complete[verb], externalId: 'ext-9', result: { ok: null } };
      expect(resolveSchema.parse(command)).toEqual(command);
    },
  );

  test('every verb is here', () => {
    expect(Object.keys(complete)).toEqual(resolutionVerbSchema.options);
  });

  test.each([
    ['a verb that is none', { ...complete.abandon, verb: 'set_running' }],
    ['empty coverage', { ...complete.confirm_not_executed, coverage: '' }],
    ['an empty reason', { ...complete.abandon, reason: '' }],
    ['no actor', { ...complete.abandon, actor: '' }],
    [
      'a reason beyond the limit',
      { ...complete.abandon, reason: 'x'.repeat(limits.noteCharsMax + 1) },
    ],
    ['record version 0', { ...complete.abandon, recordVersion: 0 }],
    ['a record version as text', { ...complete.abandon, recordVersion: '4' }],
    ['a result that is no JSON', { ...complete.confirm_executed, result: () => 1 }],
    ['a result that cannot be stored', { ...complete.confirm_executed, result: { n: 2 ** 60 } }],
    ['a result without a bottom', { ...complete.confirm_executed, result: nested(50_000) }],
    [
      'a result beyond the limit',
      { ...complete.confirm_executed, result: 'x'.repeat(limits.commandJsonCharsMax) },
    ],
    [
      'a result of what was not executed',
      { ...complete.settle_dispute, states: 'not_executed', result: 1 },
    ],
    ['a dispute that ends as unknown', { ...complete.settle_dispute, states: 'unknown' }],
    ['distinct from nothing', { ...complete.confirm_distinct, distinctFrom: '' }],
    ['half a pair in the id', { ...complete.abandon, id: half }],
    ['half a pair in the actor', { ...complete.abandon, actor: half }],
    ['half a pair in the reason', { ...complete.abandon, reason: half }],
    ['half a pair in the action', { ...complete.abandon, actionId: half }],
    ['half a pair in the coverage', { ...complete.confirm_not_executed, coverage: half }],
    ['half a pair in the external id', { ...complete.confirm_executed, externalId: half }],
    [
      'half a pair in the evidence',
      { ...complete.confirm_executed, evidence: { ...evidence, source: half } },
    ],
  ])('R-134 %s is refused', (_what, command) => {
    expect(accepts(command)).toBe(false);
  });

  test.each([
    ['model text', { ...evidence, kind: 'model_claim' }],
    ['prose only', 'I checked, it was not created'],
    ['no place to look it up', { kind: 'human_attestation' }],
    ['an empty place', { kind: 'human_attestation', source: '' }],
  ])('R-039 %s is no evidence', (_what, claimed) => {
    expect(accepts({ ...complete.confirm_executed, evidence: claimed })).toBe(false);
    expect(accepts({ ...complete.confirm_not_executed, evidence: claimed })).toBe(false);
    expect(accepts({ ...complete.settle_dispute, evidence: claimed })).toBe(false);
  });

  test.each(['receiver_query', 'object_observation', 'human_attestation'])(
    'R-039 %s with its source is evidence',
    (kind) => {
      const claimed = { ...evidence, kind, detail: 'row 7' };
      expect(accepts({ ...complete.confirm_executed, evidence: claimed })).toBe(true);
    },
  );
});

test.each([
  { status: 'running' },
  { ...base, status: 'finished' },
  { actionId: 'r.t1.c1', submission: 'not_submitted' },
  'running',
  null,
  [],
])('R-014 a bare target status is refused by every command: %j', (payload) => {
  for (const schema of [resolveSchema, stopSchema, lateFactSchema])
    expect(schema.safeParse(payload).success).toBe(false);
});

test('R-109 revoke says who and why, and nothing else', () => {
  const { id, actor, reason } = base;
  expect(stopSchema.parse({ id, actor, reason })).toEqual({ id, actor, reason });
  expect(stopSchema.safeParse({ id, actor }).success).toBe(false);
  expect(stopSchema.safeParse({ id, actor, reason, new_revision: 7 }).success).toBe(false);
});

test('R-110 a late fact is a hint: it names, and claims nothing', () => {
  const hint = { actionId: 'r.t1.c1', attemptId: null, outcomeDigest: digestOf('x') };
  expect(lateFactSchema.parse(hint)).toEqual(hint);
  expect(lateFactSchema.safeParse({ ...hint, outcome: 'executed' }).success).toBe(false);
});

test('R-134 the ids that a question proposes fit, whatever run and position are called', () => {
  const actionId = actionIdOf('r'.repeat(limits.runIdCharsMax), `b999.a${'x'.repeat(63)}`);
  const id = `${unknownIdOf(actionId)}/${Number.MAX_SAFE_INTEGER}/abandon`;
  expect(resolveSchema.safeParse({ ...complete.abandon, actionId, id }).success).toBe(true);
});

const who = { id: 'c-1', actor: 'ada', reason: 'because' };
const decision = { ...who, actionId: 'r.t1.c1', bound: digestOf('this') };
test.each<[keyof typeof authorityCommands, boolean, object]>([
  ['revoke', true, who],
  ['revoke', true, { ...who, keep: ['query'] }],
  ['revoke', false, { ...who, keep: ['effect'] }],
  ['revoke', false, { ...who, keep: ['query', 'query'] }],
  ['cancel', true, who],
  ['cancel', false, { ...who, keep: ['query'] }],
  ['amend', true, { ...who, goal: { kind: 'plan' } }],
  ['amend', true, { ...who, grants: [] }],
  ['amend', false, who],
  ['amend', false, { ...who, grants: ['everything'] }],
  ['amend', false, { ...who, goal: half }],
  ['approve', true, decision],
  ['approve', false, { ...decision, bound: 'this' }],
  ['approve', false, { ...who, actionId: 'r.t1.c1' }],
  ['deny', true, decision],
  ['deny', false, { ...decision, validForMs: 1 }],
  ['topUp', true, { ...who, requests: 1 }],
  ['topUp', true, { ...who, tokens: 1, micros: 1, wallTimeMs: 1 }],
  ['topUp', false, who],
  ['topUp', false, { ...who, requests: 0 }],
  ['topUp', false, { ...who, requests: -1 }],
  ['topUp', false, { ...who, requests: '1' }],
])('R-109 %s is taken as a command (%s): %j', (verb, isOne, command) => {
  expect(authorityCommands[verb].safeParse(command).success).toBe(isOne);
  const { id: _, ...nameless } = command as { id: string };
  expect(authorityCommands[verb].safeParse(nameless).success).toBe(false);
});
