import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import {
  type AnyTool,
  createRegistry,
  defineTool,
  RegistryError,
  type ToolDefinition,
} from '../../activities/index.ts';
import { contractSchema } from '../../core/contract.ts';
import { defaults } from '../support/activity-rig.ts';

const scope = { receiver: 'bank', account: 'acme', workspace: 'w1', region: 'eu' };
const base: ToolDefinition<{ amount: number }, null> = {
  name: 'charge_card',
  version: '1',
  description: 'Charges a card.',
  input: z.object({ amount: z.number() }),
  execute: async () => ({ kind: 'executed', result: null }),
};
const keyedBy = { scope, identity: { travelsAs: 'header' }, retentionMs: 86_400_000 };
const inquire: AnyTool['inquire'] = async () => ({ verdict: 'no_record' });
const inquiry = { consistency: 'strong', settleMs: 0 } as const;
const tool = (over: object): AnyTool => ({ ...base, ...over }) as AnyTool;

function problemsOf(definition: AnyTool, key = definition.name) {
  try {
    createRegistry({ [key]: definition }, defaults);
  } catch (error) {
    if (error instanceof RegistryError)
      return error.problems.map(({ field, problem }) => `${field}: ${problem}`);
    throw error;
  }
  return [];
}

describe('a declaration is refused when the worker starts, naming tool and field', () => {
  test.each<[string, AnyTool, RegExp]>([
    ['R-026 keyed without a scope', tool({ replay: 'keyed' }), /^receiver\.scope/],
    ['R-026 keyed without an identity', tool({ replay: 'keyed' }), /^receiver\.identity/],
    ['R-026 keyed without a retention', tool({ replay: 'keyed' }), /^receiver\.retentionMs/],
    [
      'R-026 keyed, but the key is forgotten before it can be relied on',
      tool({
        replay: 'keyed',
        receiver: { scope, identity: { travelsAs: 'header' }, retentionMs: 1_000 },
      }),
      /^receiver\.retentionMs \(must be longer/,
    ],
    ['an inquiry that nobody can make', tool({ receiver: { inquiry } }), /^inquire: is missing/],
    ['a closing that nobody can make', tool({ receiver: { closing: 'by_key' } }), /^inquire/],
    ['an inquiry that promises nothing', tool({ inquire }), /^receiver\.inquiry: is none/],
    ['an unknown part of a contract', tool({ receiver: { exactly: 1 } }), /^receiver: /],
    ['a name that is not snake case', tool({ name: 'chargeCard' }), /^binding\.tool/],
    ['the name of the model', tool({ name: 'model' }), /^name: "model" is taken/],
    ['no version', tool({ version: '' }), /^binding\.version/],
    ['no description', tool({ description: ' ' }), /^description/],
    ['a time that is none', tool({ startToCloseMs: -1 }), /^startToCloseMs/],
    [
      'an approval that holds for no time',
      tool({ approval: { always: true, validForMs: 0 } }),
      /^approval\.validForMs/,
    ],
    [
      'a rule whose code cannot be seen',
      tool({ approval: { when: (() => true).bind(null) } }),
      /^approval\.when/,
    ],
    ['a rule that is none', tool({ approval: { when: true } }), /^approval\.when/],
    ['an unknown word on approval', tool({ approval: 'sometimes' }), /^approval: /],
    ['an approval that says neither', tool({ approval: { validForMs: 5 } }), /^approval: /],
    ['a reserve below 0', tool({ reserve: { tokens: -1 } }), /^reserve\.tokens/],
    [
      'a reserve in no currency',
      tool({ reserve: { money: { currency: 'dollar', micros: 1 } } }),
      /^reserve\.money\.currency/,
    ],
    ['an unknown part of a reserve', tool({ reserve: { money_: 1 } }), /^reserve: /],
    [
      'a heartbeat longer than the attempt',
      tool({ startToCloseMs: 10, heartbeatTimeoutMs: 20 }),
      /^heartbeatTimeoutMs/,
    ],
    [
      'R-013 continue where the receiver has no protocol for it',
      tool({ continue: base.execute, replay: 'keyed', receiver: keyedBy }),
      /^receiver\.continuing/,
    ],
    [
      'R-013 continue that goes on half-way without a key',
      tool({ continue: base.execute, receiver: { continuing: 'own_protocol' } }),
      /^replay: is not keyed/,
    ],
    ['a fence that nobody writes', tool({ receiver: { fencing: 'honoured' } }), /^fence: /],
    ['a fence that nobody honours', tool({ fence: async () => {} }), /^receiver\.fencing/],
    [
      'a changeable field that the input has not',
      tool({ receiver: { changeable: ['trace'] } }),
      /^receiver\.changeable: names "trace"/,
    ],
    [
      'R-119 it undoes what is not registered',
      tool({ compensates: { tools: ['pay'], action: () => 'a.t1.c1' } }),
      /^compensates\.tools: names "pay"/,
    ],
    [
      'R-119 it undoes itself',
      tool({ compensates: { tools: ['charge_card'], action: () => 'a.t1.c1' } }),
      /^compensates\.tools: names the tool itself/,
    ],
    ['an input without JSON schema', tool({ input: z.object({ at: z.date() }) }), /^input: has no/],
    [
      'an input with a secret',
      tool({ input: z.object({ key: z.string().meta({ secret: true }) }) }),
      /^input\.key: is marked secret/,
    ],
    [
      'a bound execute without its implementation named',
      tool({ execute: base.execute.bind(null) }),
      /^implementation/,
    ],
  ])('%s', (_name, definition, problem) => {
    expect(problemsOf(definition)).toContainEqual(expect.stringMatching(problem));
  });

  test.each(Object.keys(contractSchema.shape))('R-026 a wrong %s of the receiver', (part) => {
    const problems = problemsOf(tool({ receiver: { [part]: -1 } }));
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^receiver\\.${part}: `))]);
  });

  test.each<[string, object]>([
    ['scope.region', { scope: { ...scope, region: '' } }],
    ['scope.region', { scope: { ...scope, region: undefined } }],
    ['identity.travelsAs', { identity: {} }],
    ['inquiry.consistency', { inquiry: { consistency: 'eventual', settleMs: 0 } }],
  ])('R-026 a wrong %s of the receiver: %j', (part, receiver) => {
    expect(problemsOf(tool({ receiver }))).toEqual([
      expect.stringMatching(new RegExp(`^receiver\\.${part}: `)),
    ]);
  });

  test('a key that is not the name', () => {
    expect(problemsOf(tool({}), 'charge')).toEqual(['name: is "charge_card"; use the key']);
  });

  test('all problems of all tools come at once', () => {
    const run = () =>
      createRegistry(
        { one: tool({ name: 'one', version: '' }), two: tool({ name: 'two', description: '' }) },
        defaults,
      );
    expect(run).toThrow(/2 problem[\s\S]*"one"[\s\S]*"two"/);
  });
});

describe('what a registered tool is', () => {
  const digestOf = (definition: AnyTool) =>
    createRegistry({ charge_card: definition }, defaults).tools.get('charge_card')?.policy.binding
      .digest;

  test('R-045 without a declaration it is `never`, L0, and gets the installation’s times', () => {
    const policy = createRegistry({ charge_card: tool({}) }, defaults).tools.get(
      'charge_card',
    )?.policy;
    expect(policy).toMatchObject({ replay: 'never', level: 'L0', inquirable: false, ...defaults });
  });

  test.each<[string, object]>([
    ['version', { version: '2' }],
    ['input schema', { input: z.object({ amount: z.number(), tip: z.number().optional() }) }],
    ['contract', { receiver: { scope } }],
    ['code', { execute: async () => ({ kind: 'executed', result: 1 }) }],
    ['named implementation', { implementation: 'v2' }],
    ['approval', { approval: 'always' }],
    ['approval by a rule', { approval: { when: () => true } }],
  ])('R-097 another %s is another binding', (_name, over) => {
    expect(digestOf(tool(over))).not.toBe(digestOf(tool({})));
  });

  test.each<[string, object, object]>([
    ['rule', { when: () => true }, { when: () => false }],
    ['validity', { always: true, validForMs: 5 }, { always: true, validForMs: 6 }],
    ['validity of a rule', { when: () => true }, { when: () => true, validForMs: 6 }],
  ])('R-097 another %s of approval is another binding', (_name, one, other) => {
    expect(digestOf(tool({ approval: one }))).not.toBe(digestOf(tool({ approval: other })));
  });

  test('the same declaration is the same binding', () => {
    expect(digestOf(tool({}))).toBe(digestOf(tool({})));
    const always = digestOf(tool({ approval: 'always' }));
    expect(always).toBe(digestOf(tool({ approval: { always: true } })));
  });

  test('what asks for no approval has the binding that it had before there was any', () => {
    const binding = digestOf(tool({ implementation: 'charge-card/1' }));
    expect(binding).toBe(digestOf(tool({ implementation: 'charge-card/1', approval: 'never' })));
    expect(binding).toMatchInlineSnapshot(
      `"sha256:2bdfe3fe3e4dd3f8eb6170dbb09b29fd24be2a907b74272f20fb7126a6c2876b"`,
    );
  });

  test('R-044 the declaration decides, not the name', () => {
    const read = createRegistry({ read_mail: tool({ name: 'read_mail' }) }, defaults);
    expect(read.tools.get('read_mail')?.policy.replay).toBe('never');
  });

  test('defineTool keeps the types of input and result', () => {
    const typed = defineTool({
      ...base,
      execute: async ({ amount }) => ({ kind: 'executed', result: { charged: amount } }),
    });
    expect(createRegistry({ charge_card: typed }, defaults).tools.size).toBe(1);
  });
});
