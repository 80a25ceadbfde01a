import { describe, expect, test } from 'vitest';
import { ClientError } from '../../client/errors.ts';
import { planFrom } from '../../client/goal.ts';
import { startRequest } from '../../client/start-request.ts';
import { digestOf } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const plan = (...steps: unknown[]) => bytes(JSON.stringify({ steps }));
const step = { tool: 'open_ticket', input: { subject: 'x' } };

function errorOf(act: () => unknown): ClientError {
  try {
    act();
  } catch (error) {
    if (error instanceof ClientError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('plan files', () => {
  test.each([
    ['an empty file', bytes(' \n'), /plan\.json is empty/],
    ['bytes that are no UTF-8', Uint8Array.of(0xff, 0xfe, 0x7b), /plan\.json is not UTF-8/],
    ['broken JSON', bytes('{"steps": ['), /plan\.json is not JSON \(.+\); correct it/],
    ['a bare list', bytes('[]'), /is a list; write \{"steps"/],
    ['no steps', bytes('{}'), /at steps: missing;/],
    ['an empty list of steps', plan(), /at steps: a plan needs at least one step/],
    ['a misspelt field', plan({ ...step, onUnkown: 'hold' }), /at steps\[0\]: .*onUnkown/],
    ['a misspelt field beside steps', bytes('{"steps":[],"step":1}'), /"step"/],
    ['no tool', plan({ input: {} }), /at steps\[0\]\.tool/],
    ['a tool name of another form', plan({ ...step, tool: 'Open Ticket' }), /lower_snake_case/],
    ['no input', plan({ tool: 'open_ticket' }), /at steps\[0\]\.input: missing;/],
    ['an unknown policy', plan({ ...step, onUnknown: 'ignore' }), /at steps\[0\]\.onUnknown/],
    ['a position of another form', plan({ ...step, name: 'T1' }), /at steps\[0\]\.name/],
    [
      'a name that is another step’s position',
      plan({ ...step, name: 't2.c1' }, step),
      /at steps\[1\]: "t2\.c1" is also the position of step 0/,
    ],
    [
      'a number that JSON readers would change',
      bytes('{"steps":[{"tool":"pay","input":{"cents":9007199254740993}}]}'),
      /beyond 2\^53-1; send it as a string/,
    ],
    [
      'more steps than a run takes',
      plan(...Array.from({ length: limits.planStepsMax + 1 }, () => step)),
      /at most 500 steps/,
    ],
  ])('%s is refused and the file is named', (_what, file, message) => {
    const error = errorOf(() => planFrom(file, 'plan.json'));
    expect(error.code).toBe('bad_plan');
    expect(error.message).toMatch(message);
    expect(error.message).toContain('plan.json');
  });

  test('a good plan comes through as it is, also behind a byte order mark', () => {
    const file = Uint8Array.of(0xef, 0xbb, 0xbf, ...plan({ ...step, name: 'ticket' }, step));
    expect(planFrom(file, 'plan.json')).toEqual({
      kind: 'plan',
      steps: [{ ...step, name: 'ticket' }, step],
    });
  });
});

describe('start requests', () => {
  const principal = { user: 'ada', workspace: 'w1' };

  test.each([
    ['bad_run_id', '', { goal: 'go', principal }],
    ['bad_run_id', 'unknown.x', { goal: 'go', principal }],
    ['bad_run_id', 'a.t3', { goal: 'go', principal }],
    ['bad_input', 'a', { goal: '', principal }],
    ['bad_input', 'a', { goal: 'go', principal: { user: 'ada', workspace: '' } }],
    ['input_too_large', 'a', { goal: 'x'.repeat(limits.runInputBytesMax), principal }],
    ['input_too_large', 'a', { workflow: 'mine', input: 'x'.repeat(limits.runInputBytesMax) }],
  ] as const)('%s: run id "%s" is refused before anything is sent', (code, runId, start) => {
    const error = errorOf(() => startRequest(runId, start, 'q'));
    expect(error.code).toBe(code);
    expect(error.message).toContain(runId);
  });

  test('R-022 the goal digest is over the goal, the start digest over the whole start', () => {
    const one = startRequest('a', { goal: 'go', principal }, 'q');
    const two = startRequest('b', { goal: 'go', principal, tools: ['x'] }, 'q');
    expect(one.memo.goalDigest).toBe(digestOf({ kind: 'model', instructions: 'go' }));
    expect(two.memo.goalDigest).toBe(one.memo.goalDigest);
    expect(two.memo.startDigest).not.toBe(one.memo.startDigest);
  });
});
