// Catches a budget that does not hold: cost of 0 where it is not known, a price for a name that has
// none, a counter that a restart resets or that two workers keep apart.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { spentOf } from '../../core/budget.ts';
import type { BudgetInput } from '../../core/budget-limits.ts';
import { costText } from '../../core/cost.ts';
import { totalCost } from '../../core/run-result.ts';
import { activityRig, failureOfRun, type Rig, RUN } from '../support/activity-rig.ts';
import {
  type ModelRigOptions,
  modelRig,
  reply,
  settled,
  text,
  toolCall,
} from '../support/model-rig.ts';
import { redeclare, say } from '../support/rig-people.ts';
import { tempDir } from '../support/temp-dir.ts';

/** A call of at most 1,000 tokens of output: USD 0.30 by this table, the input is nearly free. */
const prices = {
  date: '2026-11-01',
  currency: 'USD',
  models: { 'model-4-5': { inputMicrosPerMillion: 1, outputMicrosPerMillion: 300_000_000 } },
};
const priced: ModelRigOptions = {
  modelId: 'model-4-5',
  spending: { prices, maxOutputTokens: 1_000 },
};
const usd = (micros: number): BudgetInput => ({ money: { currency: 'USD', micros } });
const answer = async () => reply([text('Done.')], [100, 1_000], 'chatcmpl-1');
const under = (budget: BudgetInput, options: ModelRigOptions = priced) =>
  modelRig(answer, { ...options, open: { budget } });

async function totals(rig: Rig) {
  const run = await rig.ledger.read(RUN);
  return { spent: spentOf(run), words: costText(totalCost(run)) };
}

describe('what a model call is worth', () => {
  test('R-132 R-133 usage is priced by the dated table, under the service’s own id', async () => {
    const { rig, ask } = await modelRig(answer, priced);
    await ask();
    expect((await settled(rig))?.cost).toEqual({
      kind: 'known',
      usage: { requests: 1, inputTokens: 100, outputTokens: 1_000 },
      estimate: { currency: 'USD', micros: 300_001, tableDate: '2026-11-01' },
      callId: 'chatcmpl-1',
      purpose: 'generation',
    });
  });

  test('R-132 another table changes no row that is written', async () => {
    const path = join(tempDir(), 'ledger.db');
    const before = await modelRig(answer, { ...priced, path });
    await before.ask();
    const dearer = { 'model-4-5': { inputMicrosPerMillion: 9, outputMicrosPerMillion: 9_000_000 } };
    const table = { ...prices, date: '2027-01-01', models: dearer };
    const spending = { prices: table, maxOutputTokens: 1_000 };
    const after = await modelRig(answer, { ...priced, path, spending });
    await after.ask(2);
    const dates = ['t1.m', 't2.m'].map(async (position) => {
      const cost = (await settled(after.rig, `${RUN}.${position}`))?.cost;
      return cost?.kind === 'known' ? [cost.estimate?.tableDate, cost.estimate?.micros] : null;
    });
    expect(await Promise.all(dates)).toEqual([
      ['2026-11-01', 300_001],
      ['2027-01-01', 9_001],
    ]);
  });

  test('R-133 each call has an entry of its own, found by the service’s id of it', async () => {
    const { rig, ask, current } = await modelRig(answer, priced);
    for (const turn of [1, 2, 3]) {
      current.generate = async () => reply([text('Go on.')], [10, 10], `chatcmpl-${turn}`);
      await ask(turn);
    }
    const { actions } = await rig.ledger.read(RUN);
    const costs = [...actions.values()].flatMap(({ attempts }) =>
      attempts.map((a) => a.settled?.cost),
    );
    expect(costs).toMatchObject([1, 2, 3].map((n) => ({ callId: `chatcmpl-${n}` })));
  });

  test('a service that names no call has none made up for it', async () => {
    const { rig, ask } = await modelRig(async () => reply([text('Done.')], [1, 1]));
    await ask();
    expect((await settled(rig))?.cost).toEqual({
      kind: 'known',
      usage: { requests: 1, inputTokens: 1, outputTokens: 1 },
      purpose: 'generation',
    });
  });

  test.each([
    ['K-125 zeros for an answer', [text('ok')], [0, 0], 'unknown'],
    ['K-125 no output for an answer', [text('ok')], [12, 0], 'unknown'],
    ['K-125 no input for an answer', [text('ok')], [0, 5], 'unknown'],
    ['K-125 zeros for a call', [toolCall('{}')], [0, 0], 'unknown'],
    ['K-125 zeros for a thought', [{ type: 'reasoning', text: 'hm' }], [0, 0], 'unknown'],
    ['R-008 nothing for an answer', [text('ok')], [undefined, undefined], 'unknown'],
    ['R-008 nothing for no answer', [], [undefined, undefined], 'unknown'],
    ['R-008 half a number', [text('ok')], [12, 0.5], 'unknown'],
    ['R-008 less than nothing', [text('ok')], [12, -1], 'unknown'],
    ['R-008 zeros for no answer', [], [0, 0], 'known'],
    ['R-008 input for no answer', [], [12, 0], 'known'],
  ] as const)(
    '%s: the cost is as it was reported, or unknown',
    async (_n, content, usage, kind) => {
      const { rig, ask } = await modelRig(async () => reply([...content] as never, usage));
      await ask();
      expect((await settled(rig))?.cost.kind).toBe(kind);
    },
  );
});

describe('what a budget lets pass', () => {
  test('the reserve is the most that the request may cost, and goes with its intent', async () => {
    const { rig, ask, model } = await under(usd(1_000_000));
    await ask();
    const entry = (await rig.ledger.read(RUN)).actions.get(`${RUN}.t1.m`)?.attempts[0]?.entry;
    const { prompt, tools, maxOutputTokens } = model.doGenerateCalls[0]!;
    expect(maxOutputTokens).toBe(1_000);
    const { requests, tokens = 0, money } = entry?.reserve ?? {};
    expect(requests).toBe(1);
    const said =
      JSON.stringify(prompt)
        .match(/"text":"[^"]*"|"content":"[^"]*"/g)
        ?.join('') ?? '';
    const input = tokens - 1_000;
    expect(input).toBeGreaterThan(Buffer.byteLength(said) + JSON.stringify(tools).length);
    expect(money).toEqual({ currency: 'USD', micros: expect.any(Number) });
    expect(money?.micros).toBeGreaterThanOrEqual(300_000);
  });

  test('K-122 a misspelt model is refused before the call, the right one by price', async () => {
    const misspelt = await under(usd(20_000), { ...priced, modelId: 'model-4.5' });
    const refused = await misspelt.ask();
    expect(refused.verdict).toBe('budget_exhausted');
    expect(refused.detail).toMatch(/no price in USD/);
    const right = await under(usd(20_000));
    const byPrice = await right.ask();
    expect(byPrice.verdict).toBe('budget_exhausted');
    expect(byPrice.detail).toMatch(/USD 0\.3\d+ more do not fit USD 0\.02/);
    expect(misspelt.model.doGenerateCalls.length + right.model.doGenerateCalls.length).toBe(0);
  });

  test('K-121 three calls without a price go by the tokens, and none counts as 0', async () => {
    const options = { ...priced, modelId: 'unpriced' };
    const { rig, ask, current } = await under({ ...usd(1_000_000), tokens: 8_000 }, options);
    await ask();
    await ask(2);
    current.generate = () => Promise.reject(new Error('reset'));
    await failureOfRun(ask(3));
    const { spent, words } = await totals(rig);
    expect(spent).toMatchObject({ requests: { known: 2, held: 1 }, unknown: 1 });
    expect(spent.tokens.held).toBeGreaterThan(1_000);
    expect(words).toBe('at least 2200 tokens in 3 requests, 1 of unknown cost');
    const fourth = Array.from({ length: 5 }, (_, index) => ask(4 + index).catch(() => null));
    expect((await Promise.all(fourth)).map((each) => each?.verdict)).toContain('budget_exhausted');
  });

  test('K-124 what an aborted call reports is unknown: its reserve stays', async () => {
    const { rig, callOf, current, model } = await under({ requests: 1 });
    current.generate = async () => {
      const { abortSignal } = model.doGenerateCalls[0]!;
      await say(rig, 'cancel', {});
      await new Promise((resolve) => abortSignal!.addEventListener('abort', resolve));
      return reply([text('half')], [0, 0]);
    };
    await rig.perform(callOf(), { heartbeatTimeoutMs: 80 });
    expect((await totals(rig)).spent).toMatchObject({
      requests: { known: 0, held: 1 },
      unknown: 1,
    });
  });

  test('K-125 ten answers with a usage of 0 do not pass a cap on tokens', async () => {
    const { rig, ask, current, model } = await under({ tokens: 6_000 });
    current.generate = async () => reply([text('ok')], [0, 0]);
    const verdicts: string[] = [];
    for (let turn = 1; turn <= 10; turn++) verdicts.push((await ask(turn)).verdict);
    expect(verdicts[0]).toBe('entered');
    expect(verdicts.at(-1)).toBe('budget_exhausted');
    expect(model.doGenerateCalls.length).toBeLessThan(6);
    expect((await totals(rig)).words).toMatch(/^at least 0 tokens in \d requests, \d of unknown/);
  });

  test('K-127 R-131 what was spent before a restart counts after it', async () => {
    const path = join(tempDir(), 'ledger.db');
    const spending = { prices, maxOutputTokens: 2_000 };
    const twice = async () => reply([text('Done.')], [100, 2_000]);
    const options = { ...priced, spending, path, open: { budget: usd(1_000_000) } };
    const before = await modelRig(twice, options);
    expect((await before.ask()).settled).toBe('executed');
    await before.rig.ledger.close();
    const after = await modelRig(twice, options);
    const refused = await after.ask(2);
    expect(refused.verdict).toBe('budget_exhausted');
    expect(refused.detail).toMatch(/USD 0\.600001 used.*USD 0\.60\d+ more do not fit USD 1\.00/);
    expect(after.model.doGenerateCalls).toHaveLength(0);
    await say(after.rig, 'topUp', { micros: 1_000_000 });
    expect((await after.ask(2)).settled).toBe('executed');
  });

  test('K-128 two workers spend from one sum, whoever is first', async () => {
    const path = join(tempDir(), 'ledger.db');
    const options = { ...priced, path, open: { budget: { requests: 3 } } };
    const [one, two] = [await modelRig(answer, options), await modelRig(answer, options)];
    const turns = [one.ask(1), two.ask(2), one.ask(3), two.ask(4), one.ask(5)];
    const verdicts = (await Promise.all(turns)).map(({ verdict }) => verdict);
    expect(verdicts.filter((verdict) => verdict === 'entered')).toHaveLength(3);
    expect(verdicts.filter((verdict) => verdict === 'budget_exhausted')).toHaveLength(2);
    const calls = one.model.doGenerateCalls.length + two.model.doGenerateCalls.length;
    expect(calls).toBe(3);
    // A worker that has counted nothing reads the same sum.
    const cold = await modelRig(answer, options);
    expect((await totals(cold.rig)).spent).toEqual((await totals(one.rig)).spent);
    expect((await totals(cold.rig)).spent.requests).toEqual({ known: 3, held: 0 });
    expect((await cold.ask(6)).verdict).toBe('budget_exhausted');
  });

  test('R-131 a lost reply counts as a request for good, and so does the new one', async () => {
    const { rig, ask, current, model } = await under({ requests: 3 });
    await ask();
    current.generate = () => Promise.reject(new Error('reset'));
    await failureOfRun(ask(2));
    current.generate = answer;
    expect((await ask(2)).settled).toBe('executed');
    expect(JSON.stringify(model.doGenerateCalls[2]!.prompt)).toMatch(/reply is missing/);
    expect((await totals(rig)).spent.requests).toEqual({ known: 2, held: 1 });
    expect((await totals(rig)).words).toBe(
      'at least 2200 tokens in 3 requests, USD 0.600002, 1 of unknown cost',
    );
    expect((await ask(3)).verdict).toBe('budget_exhausted');
    await say(rig, 'topUp', { requests: 1 });
    expect((await ask(3)).settled).toBe('executed');
  });
});

describe('what a tool says that it costs', () => {
  const cost = { kind: 'known', usage: { requests: 1, inputTokens: 0, outputTokens: 0 } } as const;

  test.each([
    ['its settlement names it', { kind: 'executed', result: null, cost }, { known: 1, held: 0 }],
    ['its settlement leaves it out', { kind: 'executed', result: null }, { known: 0, held: 1 }],
    ...[{ ...cost, usage: { ...cost.usage, requests: -1 } }, { kind: 'known' }, 5, null].map(
      (odd): [string, object, { known: number; held: number }] => [
        `it names ${JSON.stringify(odd)}`,
        { kind: 'executed', result: null, cost: odd },
        { known: 0, held: 1 },
      ],
    ),
    ['it was refused', { kind: 'refused', code: '402', message: 'no' }, { known: 0, held: 1 }],
    ['it was not taken', { kind: 'not_taken', code: '429', message: 'no' }, { known: 0, held: 0 }],
  ])(
    'R-131 its reserve is held until its cost is known: %s',
    async (_name, settlement, requests) => {
      const rig = await activityRig();
      redeclare(rig, { reserve: { requests: 1 } });
      rig.receiver.execute = async () => settlement;
      const opened = await rig.open({ budget: { requests: 1 } });
      const attempt = (position: string) => rig.perform(rig.call(opened, { position }));
      expect((await attempt('t1.c1')).verdict).toBe('entered');
      expect((await totals(rig)).spent.requests).toEqual(requests);
      const room = requests.known + requests.held === 0;
      expect((await attempt('t1.c2')).verdict).toBe(room ? 'entered' : 'budget_exhausted');
    },
  );
});
