// Catches a changed goal that forgets what was done, takes an old plan's step for a task, makes
// something of a reply that is missing, or tells an unknown as if it were known.

import { describe, expect, test } from 'vitest';
import { modelContextOf, modelContextSchema } from '../../activities/tools/model-context.ts';
import type { PerformCall } from '../../core/activity-calls.ts';
import { digestOf } from '../../core/digest.ts';
import { failureOfRun, RUN } from '../support/activity-rig.ts';
import { modelRig, reply, settled, stored, text, toolCall } from '../support/model-rig.ts';
import { say } from '../support/rig-people.ts';

const refund = { kind: 'model', instructions: 'Write Ada a letter instead.' };
const step = (amount: number) => ({ tool: 'charge_card', input: { amount } });
const plan = (...amounts: number[]) => ({ kind: 'plan', steps: amounts.map(step) });

type ModelRig = Awaited<ReturnType<typeof modelRig>>;

/** What the model was told last, one line each. */
function told({ model }: ModelRig): string[] {
  return model.doGenerateCalls
    .at(-1)!
    .prompt.map(({ role, content }) =>
      typeof content === 'string'
        ? `${role}: ${content}`
        : `${role}: ${content.map((part) => wordsOf(part)).join(' | ')}`,
    );
}

function wordsOf(part: object): string {
  if ('text' in part) return String(part.text);
  if ('input' in part) return `call ${JSON.stringify(part.input)}`;
  return JSON.stringify('output' in part && part.output);
}

const answerWith = (rig: ModelRig, ...content: Parameters<typeof reply>[0]) => {
  rig.current.generate = async () => reply(content);
};

async function amended(rig: ModelRig, goal: object = refund): Promise<Partial<PerformCall>> {
  const { authority, pin } = await say(rig.rig, 'amend', { goal: goal as never });
  return { revisions: authority.revisions, pin };
}

const ask = () => modelRig(async () => reply([text('Charging.'), toolCall('{"amount":10}')]));

function perform({ rig, opened }: ModelRig, position: string, over: Partial<PerformCall> = {}) {
  return rig.perform(rig.call(opened, { position, ...over }));
}

describe('the context of a goal that took the place of another', () => {
  test('R-098 R-106 R-117 it has what was asked and done before, and that it is over', async () => {
    const rig = await ask();
    await rig.ask();
    await perform(rig, 't1.c1');
    const over = await amended(rig);
    answerWith(rig, text('Dear Ada'), toolCall('{"amount":0}'));
    expect((await rig.ask(1, over, 2)).settled).toBe('executed');
    const [, ...messages] = told(rig);
    expect(messages).toEqual([
      'user: Charge Ada’s card.',
      'assistant: Charging. | call {"amount":10}',
      'tool: {"type":"json","value":{"ok":true}}',
      expect.stringMatching(/^user: The goal was changed.*no longer holds.*stays done/s),
      'user: Write Ada a letter instead.',
    ]);
    await rig.ask(2, over, 2);
    const [, , assistant] = rig.model.doGenerateCalls.at(-1)!.prompt.slice(4);
    expect(assistant).toMatchObject({ content: [{}, { toolCallId: 'call_b2_t1_c1' }] });
  });

  test('R-098 of an earlier plan it has what was tried, and no step that was not', async () => {
    const rig = await modelRig(async () => reply([text('Seen.')]), {
      open: { goal: plan(10, 20, 30, 40) },
    });
    const nth = (index: number) =>
      perform(rig, `t${index + 1}.c1`, { input: { kind: 'plan_step', index } });
    await nth(0);
    rig.rig.receiver.execute = () => Promise.reject(new Error('lost'));
    await failureOfRun(nth(1));
    rig.rig.receiver.execute = async () => ({ kind: 'refused', code: 'no', message: 'declined' });
    await nth(2);
    expect((await rig.ask(1, await amended(rig), 2)).settled).toBe('executed');
    const [, before, ...rest] = told(rig);
    expect(before?.split('\n').slice(1)).toEqual([
      '- t1.c1: charge_card {"amount":10}. Executed: {"ok":true}',
      expect.stringMatching(/^- t2.c1: charge_card {"amount":20}. Outcome unknown: it may have/),
      '- t3.c1: charge_card {"amount":30}. Not executed (refused): no: declined',
    ]);
    expect(rest).toHaveLength(2);
    expect(JSON.stringify(told(rig))).not.toMatch(/40/);
  });

  test('an earlier plan of which nothing was tried is told as such', async () => {
    const rig = await modelRig(async () => reply([text('Seen.')]), { open: { goal: plan(10) } });
    await rig.ask(1, await amended(rig), 2);
    expect(told(rig)[1]).toMatch(/\nnone$/);
  });

  test('R-116 a reply that is missing is said to be, and nothing is taken from it', async () => {
    const rig = await ask();
    rig.current.generate = () => Promise.reject(new Error('reset'));
    await failureOfRun(rig.ask());
    // Closed by the change: it never went out, and there is no reply to miss.
    const over = await amended(rig);
    expect((await rig.ask(2)).verdict).toBe('goal_stale');
    answerWith(rig, text('Anew.'));
    const answered = await rig.ask(1, over, 2);
    expect(answered.outcome).toMatchObject({ kind: 'executed', calls: [] });
    const missing = told(rig).filter((line) => /missing/.test(line));
    expect(missing).toEqual(['user: The reply of turn 1 is missing.']);
    const { actions } = await rig.rig.ledger.read(RUN);
    expect([...actions.keys()].filter((id) => /\.c\d/.test(id))).toEqual([]);
  });

  test('R-106 goals in between are told in their order', async () => {
    const rig = await ask();
    await rig.ask();
    await amended(rig, plan(7));
    const over = await amended(rig);
    answerWith(rig, text('Seen.'));
    await rig.ask(1, over, 3);
    const [, ...lines] = told(rig);
    expect(lines.map((line) => line.slice(0, 30))).toEqual([
      'user: Charge Ada’s card.',
      'assistant: Charging. | call {"',
      'tool: {"type":"text","value":"',
      'user: The goal was changed. Wh',
      'user: The task was a plan of s',
      'user: The goal was changed. Wh',
      'user: Write Ada a letter inste',
    ]);
    expect(lines[2]).toMatch(/never tried/);
    // What was done for the goal before it is no step of the plan.
    expect(lines[4]).toMatch(/\nnone$/);
  });

  test('R-115 what came late is not told to a run that may not build on it', async () => {
    const rig = await ask();
    await rig.ask();
    const call = rig.rig.call(rig.opened, { position: 't1.c1' });
    rig.rig.receiver.execute = async () => {
      const { actionId, attemptId } = call;
      await rig.rig.activities().recordFacts({
        ...{ kind: 'doubt', runId: RUN, pin: null, actionId, attemptId },
        ...{ why: 'silent', externalId: null },
      });
      return { kind: 'executed', result: { secret: 'late' } };
    };
    await rig.rig.perform(call);
    const contextOf = async () =>
      modelContextOf({
        ...{ run: await rig.rig.ledger.read(RUN), branch: 1, turn: 2, tools: [] },
      }).turns[0]?.calls[0]?.told;
    expect(await contextOf()).toEqual({ kind: 'result', digest: digestOf({ secret: 'late' }) });
    await say(rig.rig, 'amend', { grants: ['effect', 'send'] });
    expect(await contextOf()).toMatchObject({ text: expect.stringMatching(/came late/) });
  });

  test('what is stored of it parses, as does a context from before there were any', async () => {
    const rig = await ask();
    await rig.ask();
    await rig.ask(1, await amended(rig), 2);
    const { actions } = await rig.rig.ledger.read(RUN);
    for (const [position, isChanged] of [
      ['t1.m', false],
      ['b2.t1.m', true],
    ] as const) {
      const entry = actions.get(`${RUN}.${position}`)?.attempts[0]?.entry;
      const context = modelContextSchema.parse(await stored(rig.rig, entry?.payload.digest ?? ''));
      expect('earlier' in context).toBe(isChanged);
    }
    expect((await settled(rig.rig, `${RUN}.b2.t1.m`))?.outcome).toBe('executed');
  });
});

describe('which goal an attempt works for', () => {
  test('R-098 a step is one of the plan that its position belongs to', async () => {
    const rig = await modelRig(async () => reply([]), { open: { goal: plan(10) } });
    const sent: unknown[] = [];
    rig.rig.receiver.execute = async (input) => {
      sent.push(input.amount);
      return { kind: 'executed', result: null };
    };
    const over = await amended(rig, plan(77));
    const input = { kind: 'plan_step', index: 0 } as const;
    expect(await perform(rig, 't1.c1', { input })).toMatchObject({ verdict: 'goal_stale' });
    await perform(rig, 'b2.t1.c1', { ...over, input });
    expect(sent).toEqual([77]);
  });

  test.each<[string, PerformCall['input']]>([
    ['a step', { kind: 'plan_step', index: 0 }],
    ['a turn', { kind: 'model_context', turn: 1 }],
  ])('%s of a goal that is not in the ledger is closed as invalid', async (_name, input) => {
    const rig = await ask();
    const refused = await perform(rig, 'b3.t1.c1', { input });
    expect(refused).toMatchObject({ verdict: 'invalid_input' });
    expect(refused.detail).toMatch(/goal of its revision/);
  });

  test('no context is built for a goal that is not there', async () => {
    const { rig } = await ask();
    const run = await rig.ledger.read(RUN);
    expect(() => modelContextOf({ run, branch: 2, turn: 1, tools: [] })).toThrow(/no goal 2/);
  });
});
