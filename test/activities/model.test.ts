import { APICallError } from 'ai';
import { describe, expect, test } from 'vitest';
import { notTakenStatuses } from '../../activities/tools/model.ts';
import { limits } from '../../core/limits.ts';
import { failureOfRun, handClock, RUN } from '../support/activity-rig.ts';
import {
  type Generate,
  modelRig,
  reply,
  settled,
  stored,
  text,
  toolCall,
} from '../support/model-rig.ts';

describe('a model call is an action', () => {
  test('R-057 reply, proposals and their inputs are stored, with the cost', async () => {
    const { rig, ask } = await modelRig(async () =>
      reply([text('On it.'), toolCall('{"amount": 10, "note": ""}')]),
    );
    const answer = await ask();
    expect(answer).toMatchObject({
      settled: 'executed',
      outcome: { kind: 'executed', calls: [{ tool: 'charge_card', callId: 'call_same_for_all' }] },
    });
    const { outcome } = answer;
    if (outcome?.kind !== 'executed') throw new Error('not executed');
    expect(await stored(rig, outcome.calls[0]!.input.digest)).toEqual({ amount: 10, note: '' });
    expect(await stored(rig, outcome.result.digest)).toMatchObject({
      text: 'On it.',
      parts: [{ kind: 'text' }, { kind: 'call', input: outcome.calls[0]!.input }],
    });
    expect((await settled(rig, `${RUN}.t1.m`))?.cost).toEqual({
      kind: 'known',
      usage: { requests: 1, inputTokens: 12, outputTokens: 5 },
      purpose: 'generation',
    });
  });

  test('the request came through the AI SDK, with tool schemas; no tool is run', async () => {
    const { ask, model, rig } = await modelRig(async () => reply([toolCall('{"amount":1}')]));
    let runs = 0;
    rig.receiver.execute = async () => {
      runs++;
      return { kind: 'executed', result: null };
    };
    await ask();
    expect(model.doGenerateCalls).toHaveLength(1);
    const { prompt, tools } = model.doGenerateCalls[0]!;
    expect(prompt.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(prompt[1]).toMatchObject({ content: [{ text: 'Charge Ada’s card.' }] });
    expect(tools).toMatchObject([
      {
        name: 'charge_card',
        inputSchema: { properties: { amount: { type: 'number' } }, required: ['amount'] },
      },
    ]);
    expect(runs).toBe(0);
  });

  test('R-117 K-085 the next turn hears replies and results, paired by our own ids', async () => {
    const { rig, opened, ask, current, model } = await modelRig(async () =>
      reply([text('Both.'), toolCall('{"amount":1}'), toolCall('{"amount":2}'), toolCall('{}')]),
    );
    const first = await ask();
    const pin = first.pin;
    const outcome = first.outcome?.kind === 'executed' ? first.outcome : null;
    const results = [
      async () => ({ kind: 'executed', result: { id: 'T-1' } }),
      () => Promise.reject(new Error('lost')),
    ];
    for (const [index, execute] of results.entries()) {
      rig.receiver.execute = execute;
      const input = { kind: 'stored', payload: outcome!.calls[index]!.input } as const;
      const run = rig.perform(rig.call(opened, { position: `t1.c${index + 1}`, input, pin }));
      await run.catch(() => undefined);
    }
    current.generate = async () => reply([text('Done.')]);
    await ask(2);
    const [, , assistant, tool] = model.doGenerateCalls[1]!.prompt;
    expect(assistant).toMatchObject({
      role: 'assistant',
      content: [
        { type: 'text', text: 'Both.' },
        { type: 'tool-call', toolCallId: 'call_t1_c1', input: { amount: 1 } },
        { type: 'tool-call', toolCallId: 'call_t1_c2', input: { amount: 2 } },
        { type: 'tool-call', toolCallId: 'call_t1_c3' },
      ],
    });
    expect(tool).toMatchObject({
      role: 'tool',
      content: [
        { toolCallId: 'call_t1_c1', output: { type: 'json', value: { id: 'T-1' } } },
        {
          toolCallId: 'call_t1_c2',
          output: { type: 'text', value: expect.stringMatching(/unknown/) },
        },
        {
          toolCallId: 'call_t1_c3',
          output: { type: 'text', value: expect.stringMatching(/Not executed/) },
        },
      ],
    });
    expect(JSON.stringify(tool)).not.toMatch(/failed/i);
  });

  test('R-116 a lost reply is bought again, and the model is told', async () => {
    const { rig, ask, current, model } = await modelRig(() => Promise.reject(new Error('reset')));
    expect(await failureOfRun(ask())).toMatchObject({ type: 'AttemptAmbiguous' });
    current.generate = async () => reply([text('Again.')]);
    expect(await ask()).toMatchObject({ settled: 'executed' });
    expect(JSON.stringify(model.doGenerateCalls[1]!.prompt)).toMatch(/reply is missing/);
    const attempts = (await rig.ledger.read(RUN)).actions.get(`${RUN}.t1.m`)?.attempts ?? [];
    expect(attempts.map(({ settled: end }) => end?.outcome)).toEqual([undefined, 'executed']);
    expect(new Set(attempts.map(({ entry }) => entry.payload.digest)).size).toBe(2);
  });

  test('R-008 usage of zero for a real answer is an unknown cost, not a free one', async () => {
    const { rig, ask } = await modelRig(async () => reply([text('Hello.')], [0, 0]));
    await ask();
    expect((await settled(rig, `${RUN}.t1.m`))?.cost.kind).toBe('unknown');
  });

  test.each([
    ['zeros', [0, 0]],
    ['some usage', [12, 3]],
  ] as const)(
    'K-124 R-008 aborted, and answered with %s: its cost is unknown',
    async (_, usage) => {
      const { rig, current, model, callOf } = await modelRig(async () => reply([]));
      const command = { id: 'c1', actor: 'ops', reason: 'stop it' };
      current.generate = async () => {
        const { abortSignal } = model.doGenerateCalls[0]!;
        const aborted = new Promise((resolve) => abortSignal!.addEventListener('abort', resolve));
        const stop = { kind: 'cancel', runId: RUN, pin: null, command, position: null } as const;
        await rig.activities().recordFacts(stop);
        await aborted;
        return reply([], [...usage]);
      };
      await rig.perform(callOf(), { heartbeatTimeoutMs: 80 });
      expect((await settled(rig, `${RUN}.t1.m`))?.cost.kind).toBe('unknown');
    },
  );

  test('a request whose send window has passed is not sent, and may be made again', async () => {
    const { rig, ask, model } = await modelRig(async () => reply([text('Hello.')]));
    const clock = handClock();
    Object.assign(rig.deps, { clock });
    const payload = rig.ledger.payload.bind(rig.ledger);
    rig.ledger.payload = async (digest) => {
      // The machine freezes while the context is read, after the gate.
      clock.move(limits.sendWindowMs + 1);
      return payload(digest);
    };
    expect(await ask()).toMatchObject({ verdict: 'entered', settled: 'not_sent' });
    expect(model.doGenerateCalls).toHaveLength(0);
    expect((await settled(rig, `${RUN}.t1.m`))?.cost).toEqual({ kind: 'none' });
  });

  test('R-010 arguments that are no JSON are refused by the schema', async () => {
    const { rig, opened, ask } = await modelRig(async () =>
      reply([toolCall('{"amount": '), toolCall('{}', 'fly_away')]),
    );
    const { outcome, pin } = await ask();
    if (outcome?.kind !== 'executed') throw new Error('not executed');
    expect(outcome.calls.map(({ tool }) => tool)).toEqual(['charge_card', 'fly_away']);
    const input = { kind: 'stored', payload: outcome.calls[0]!.input } as const;
    const call = rig.call(opened, { position: 't1.c1', input, pin });
    expect(await rig.perform(call)).toMatchObject({ verdict: 'invalid_input' });
  });

  test('names that a service makes up are cut to what the ledger holds', async () => {
    const call = { ...toolCall('{}', `fly\ud800${'y'.repeat(9_000)}`), toolCallId: 'c\udc00' };
    const { ask } = await modelRig(async () => reply([call]));
    const { outcome } = await ask();
    if (outcome?.kind !== 'executed') throw new Error('not executed');
    const [proposed] = outcome.calls;
    expect(proposed?.callId).toBe('c\ufffd');
    expect(proposed?.tool).toHaveLength(limits.labelCharsMax);
  });

  test('a reply with more calls than pass history is paid for, its result missing', async () => {
    const calls = Array.from({ length: limits.callsStoredMax + 1 }, () => toolCall('{}'));
    const { rig, ask } = await modelRig(async () => reply(calls));
    expect(await ask()).toMatchObject({ outcome: { kind: 'executed_result_missing' } });
    const recorded = await settled(rig, `${RUN}.t1.m`);
    expect(recorded?.resultMissing).toContain('501 proposed calls are more than can be kept');
    expect(recorded?.cost).toMatchObject({ kind: 'known' });
  });
});

describe('what a model service’s error settles', () => {
  const failing = (statusCode: number | undefined, retryAfter?: string) => () =>
    Promise.reject(
      new APICallError({
        message: `status ${statusCode}`,
        url: 'http://model',
        requestBodyValues: {},
        ...(statusCode === undefined ? {} : { statusCode }),
        ...(retryAfter === undefined ? {} : { responseHeaders: { 'retry-after': retryAfter } }),
      }),
    );

  test.each<[string, Generate, number | null]>([
    ['401', failing(401), null],
    ['429', failing(429), null],
    ['429 with a time', failing(429, '7'), 7_000],
    ['503 with a time', failing(503, '2'), 2_000],
  ])('R-041 %s was not taken', async (_name, generate, retryAfterMs) => {
    const { ask } = await modelRig(generate);
    expect(await ask()).toMatchObject({ settled: 'not_taken', retryAfterMs });
  });

  test.each<[string, Generate]>([
    ['503 alone', failing(503)],
    ['500', failing(500, '1')],
    ['400', failing(400)],
    ['no status', failing(undefined)],
    ['an abort', () => Promise.reject(new DOMException('aborted', 'AbortError'))],
  ])('R-057 %s is ambiguous: the call may have been served and billed', async (_name, generate) => {
    const { rig, ask } = await modelRig(generate);
    expect(await failureOfRun(ask())).toMatchObject({ type: 'AttemptAmbiguous' });
    expect(await settled(rig, `${RUN}.t1.m`)).toBeNull();
  });

  test('the table lists each status once', () => {
    expect(notTakenStatuses.map(({ status }) => status)).toEqual([401, 429, 503]);
  });
});
