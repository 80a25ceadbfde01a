import { describe, expect, test } from 'vitest';
import { canonicalBytes } from '../../core/digest.ts';
import {
  checkRunInput,
  goalProblem,
  onExhaustedIn,
  pinnedTools,
  stepPosition,
} from '../../core/goal.ts';
import { limits } from '../../core/limits.ts';

const principal = { user: 'ada', workspace: 'w1' };
const step = { tool: 'open_ticket', input: { title: 'Lost parcel' } };
const plan = { kind: 'plan', steps: [step, { ...step, name: 'second' }] };
const input = { goal: plan, principal, tools: null, ticket: null };
const model = { ...input, goal: { kind: 'model', instructions: 'sort the mail' } };

const messageOf = (raw: unknown, runId = 'desk-1') => {
  const checked = checkRunInput(runId, raw);
  return checked.kind === 'refused' ? checked.message : 'was accepted';
};

test.each([
  ['a plan', input],
  ['a model', model],
  ['a model with fewer turns', { ...model, goal: { ...model.goal, turnsMax: limits.turnsMax } }],
  ['stated tools', { ...input, tools: ['open_ticket'] }],
])('%s is accepted as it is', (_what, raw) => {
  expect(checkRunInput('desk-1', raw)).toEqual({ kind: 'ok', input: raw });
});

const half = { user: '\ud800', workspace: 'w1' };

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

test('an input is dispatched as it was given, key for key', () => {
  const raw = JSON.parse('{"__proto__": {"polluted": true}, "title": "Lost parcel"}');
  const checked = checkRunInput('desk-1', {
    ...input,
    goal: { ...plan, steps: [{ ...step, input: raw }] },
  });
  const goal =
    checked.kind === 'ok' && checked.input.goal.kind === 'plan' ? checked.input.goal : null;
  expect(JSON.stringify(goal?.steps[0]?.input)).toBe(JSON.stringify(raw));
});

describe('a refusal names the run, what is wrong and what to do', () => {
  const big = 'x'.repeat(limits.runInputBytesMax);
  const goal = (over: object) => ({ ...input, goal: { ...plan, ...over } });
  test.each<[string, unknown, string]>([
    ['no input', undefined, 'does not parse'],
    ['no goal', { ...input, goal: undefined }, 'goal'],
    ['an empty plan', goal({ steps: [] }), 'steps'],
    [
      'a plan beyond the limit',
      goal({ steps: Array(limits.planStepsMax + 1).fill(step) }),
      'steps',
    ],
    ['no principal', { ...input, principal: {} }, 'principal'],
    ['a field nobody knows', { ...input, priority: 1 }, 'priority'],
    ['a name that is no position', goal({ steps: [{ ...step, name: 'Pay!' }] }), 'name'],
    [
      'more turns than the limit',
      { ...model, goal: { ...model.goal, turnsMax: limits.turnsMax + 1 } },
      'turnsMax',
    ],
    ['too many bytes', goal({ steps: [{ ...step, input: big }] }), 'pass references, not contents'],
    ['no end of nesting', goal({ steps: [{ ...step, input: nested(50_000) }] }), 'deeper than'],
    ['a step without input', goal({ steps: [{ tool: 'open_ticket' }] }), 'goal.steps[0].input'],
    ['half a surrogate pair in a name', { ...input, principal: half }, 'not canonical'],
    ['half a surrogate pair', goal({ steps: [{ ...step, input: '\ud800' }] }), 'not canonical'],
    [
      'one name twice',
      goal({
        steps: [
          { ...step, name: 'a' },
          { ...step, name: 'a' },
        ],
      }),
      'steps 0 and 1 have the same position "a"',
    ],
    [
      'a name that is the next position',
      goal({ steps: [{ ...step, name: 't2.c1' }, step] }),
      'steps 0 and 1 have the same position "t2.c1"',
    ],
    [
      'a tool that is not among its own',
      { ...input, tools: ['other'] },
      'step 0 (t1.c1) uses the tool "open_ticket"; its tools are other',
    ],
  ])('%s', (_what, raw, why) => {
    const message = messageOf(raw);
    expect(message).toContain(why);
    expect(message).toMatch(/^run desk-1: /);
    expect(message).toContain('Nothing was dispatched; correct it and start again');
  });

  test('R-015 a run id that is none', () => {
    expect(messageOf(input, 'desk.t3')).toContain('run desk.t3: it ends like a position');
  });
});

test('an input of exactly the limit is accepted', () => {
  const filled = (text: string) => ({
    ...input,
    goal: { ...plan, steps: [{ ...step, input: text }] },
  });
  const room = limits.runInputBytesMax - canonicalBytes(filled('')).length;
  expect(checkRunInput('desk-1', filled('x'.repeat(room))).kind).toBe('ok');
  expect(messageOf(filled('x'.repeat(room + 1)))).toContain('pass references');
});

test('an error that is no refusal of the payload is a bug, and loud', () => {
  let reads = 0;
  const raw = Object.defineProperty({ ...input }, 'ticket', {
    enumerable: true,
    get: () => {
      reads += 1;
      if (reads > 2) throw new RangeError('gone');
      return null;
    },
  });
  expect(() => {
    for (let i = 0; i < 3; i++) checkRunInput('desk-1', raw);
  }).toThrow(RangeError);
});

test('R-018 positions come from the plan: its names, or the place of the step', () => {
  expect([stepPosition({}, 0), stepPosition({ name: 'pay' }, 1)]).toEqual(['t1.c1', 'pay']);
});

test.each([
  ['the stated ones', { ...input, tools: ['a', 'b'] }, ['a', 'b']],
  ['those of the plan, once each', input, ['open_ticket']],
  ['all of the installation', model, null],
])('R-075 the tools that are pinned: %s', (_which, raw, tools) => {
  const checked = checkRunInput('desk-1', { ...raw });
  const ok = checked.kind === 'ok' ? checked.input : { ...input, tools: ['a', 'b'] };
  expect(pinnedTools(ok as Parameters<typeof pinnedTools>[0])).toEqual(tools);
});

test.each([
  ['ask', {}],
  ['ask', null],
  ['ask', { budget: {} }],
  ['ask', { budget: { onExhausted: 'sleep' } }],
  ['end', { budget: { onExhausted: 'end' } }],
])('what an exhausted budget leads to is "%s" of %j', (wanted, raw) => {
  expect(onExhaustedIn(raw)).toBe(wanted);
});

test.each([
  [null, { kind: 'plan', steps: [{ tool: 'mail', input: 1 }] }],
  [null, { kind: 'model', instructions: 'x' }],
  ['uses the tool "fax"', { kind: 'plan', steps: [{ tool: 'fax', input: 1 }] }],
  ['does not parse', { kind: 'plan', steps: [] }],
  ['of amended goals', { kind: 'plan', steps: [{ tool: 'mail', input: 1, name: 'b2.mail' }] }],
])('R-098 %s: %j for a run with mail and a model', (why, goal) => {
  const problem = goalProblem(goal, ['mail', 'model']);
  expect(problem).toEqual(why === null ? null : expect.stringContaining(why));
});

test('R-098 a goal for a model is none for a run without one', () => {
  expect(goalProblem({ kind: 'model', instructions: 'x' }, ['mail'])).toContain('without one');
});
