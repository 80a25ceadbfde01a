import { describe, expect, test } from 'vitest';
import { type FactBody, factBodySchema, factSchema } from '../../core/facts.ts';
import { open, RUN } from '../support/asks.ts';
import { bodies } from '../support/fact-bodies.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { openAndEnter } from '../support/story.ts';

const entered = () => {
  const ledger = memoryLedger();
  openAndEnter(ledger);
  return ledger;
};
const opened = () => {
  const ledger = memoryLedger();
  open(ledger);
  return ledger;
};

/** The ledger in which a kind's fact is legal next. */
const before: Record<FactBody['kind'], () => MemoryLedger> = {
  run_opened: memoryLedger,
  attempt_entered: opened,
  attempt_prepared: entered,
  attempt_refused: opened,
  attempt_settled: entered,
  action_in_doubt: entered,
  observation: entered,
  resolution: entered,
  authority_changed: opened,
  command_rejected: opened,
  run_ended: opened,
  payload_erased: opened,
};
const samples = Object.entries(bodies).map(
  ([kind, make]) => [kind, make(before[kind as FactBody['kind']]())] as const,
);

describe.each(samples)('%s', (_kind, body) => {
  test('R-062 R-075 without any one of its fields it is no fact', () => {
    expect(factBodySchema.parse(body)).toEqual(body);
    for (const field of Object.keys(body)) {
      const { [field as 'kind']: _gone, ...rest } = body;
      expect([field, factBodySchema.safeParse(rest).success]).toEqual([field, false]);
    }
  });

  test('R-064 a field of a later version is read over', () => {
    expect(factBodySchema.safeParse({ ...body, later: 1 }).success).toBe(true);
  });
});

test('R-064 another major and another kind are no facts', () => {
  const ledger = entered();
  const fact = ledger.facts(RUN)[0];
  expect(factSchema.safeParse(fact).success).toBe(true);
  expect(factSchema.safeParse({ ...fact, schema: 'holdfast/2' }).success).toBe(false);
  expect(factBodySchema.safeParse({ kind: 'queue_undone' }).success).toBe(false);
});

test('R-014 R-067 a fact needs its source, and none of them is a model', () => {
  const fact = entered().facts(RUN)[0];
  for (const source of ['model', 'external', undefined])
    expect(factSchema.safeParse({ ...fact, source }).success).toBe(false);
});

describe('R-012 an intent keeps what is needed to verify it later', () => {
  const body = bodies.attempt_entered(opened());
  test.each([
    ['no action id', { actionId: '' }],
    ['no payload', { payload: null }],
    ['a payload without digest', { payload: { bytes: 3 } }],
    ['a digest that is none', { payload: { digest: 'md5:0', bytes: 3 } }],
    ['no way to verify', { verify: null }],
    ['a way to verify that is none of the known', { verify: { method: 'guess', why: 'x' } }],
    ['no way to verify, and no reason', { verify: { method: 'none', why: '' } }],
    ['attempt number 0', { number: 0 }],
    ['no receiver key', { receiverKey: '' }],
    ['a send token without epoch', { sendToken: { number: 1 } }],
    ['no replay policy', { replay: 'maybe' }],
  ])('%s is refused', (_what, over) => {
    expect(factBodySchema.safeParse({ ...body, ...over }).success).toBe(false);
  });

  test('none, with its reason, is a way', () => {
    const verify = { method: 'none', why: 'the receiver cannot be asked' };
    expect(factBodySchema.safeParse({ ...body, verify }).success).toBe(true);
  });
});

test('R-012 a doubt names at least one attempt', () => {
  const body = bodies.action_in_doubt(entered());
  expect(factBodySchema.safeParse({ ...body, attemptIds: [] }).success).toBe(false);
  expect(factBodySchema.safeParse({ ...body, why: '' }).success).toBe(false);
});
