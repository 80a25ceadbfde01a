import { describe, expect, test } from 'vitest';
import {
  type ContractInput,
  contractSchema,
  domainOf,
  keyGaps,
  levelOf,
} from '../../core/contract.ts';
import { limits } from '../../core/limits.ts';

const scope = { receiver: 'bank', account: 'acme', workspace: 'w1', region: 'eu' };
const key: ContractInput = {
  scope,
  identity: { travelsAs: 'header Idempotency-Key' },
  retentionMs: 86_400_000,
};
const inquiry = { consistency: 'strong', settleMs: 0 } as const;

test('R-139 every capability is none unless it is stated', () => {
  expect(contractSchema.parse({})).toEqual({
    scope: 'none',
    identity: 'none',
    retentionMs: 'none',
    retentionMarginMs: limits.retentionMarginMs,
    requestDelayMaxMs: 'none',
    inquiry: 'none',
    closing: 'none',
    fencing: 'none',
    continuing: 'none',
  });
  expect(contractSchema.safeParse({ idempotent: true }).success).toBe(false);
});

describe('the level is derived', () => {
  test.each<[string, ContractInput]>([
    ['L0', {}],
    ['L0', { fencing: 'honoured' }],
    ['L0', { ...key, identity: 'none' }],
    ['L1', { inquiry }],
    ['L1', { closing: 'by_key' }],
    ['L1', { ...key, scope: 'none', inquiry }],
    ['L2', key],
    ['L2', { ...key, closing: 'by_token' }],
    ['L2', { ...key, inquiry, fencing: 'honoured' }],
    ['L3', { closing: 'by_token', fencing: 'honoured' }],
    ['L3', { ...key, closing: 'by_key', fencing: 'honoured' }],
  ])('%s for %j', (level, input) => {
    expect(levelOf(contractSchema.parse(input))).toBe(level);
  });
});

describe('R-026 what a key lacks is named by its field', () => {
  const retention = 'retentionMs (must be longer than retentionMarginMs + requestDelayMaxMs)';
  test.each<[ContractInput, string[]]>([
    [key, []],
    [{}, ['scope', 'identity', 'retentionMs']],
    [{ ...key, scope: 'none' }, ['scope']],
    [{ ...key, identity: 'none' }, ['identity']],
    [{ ...key, retentionMs: 'none' }, ['retentionMs']],
    [{ ...key, retentionMs: limits.retentionMarginMs }, [retention]],
    [{ ...key, retentionMs: 100, retentionMarginMs: 50, requestDelayMaxMs: 50 }, [retention]],
    [{ ...key, retentionMs: 101, retentionMarginMs: 50, requestDelayMaxMs: 50 }, []],
  ])('%j lacks %j', (input, gaps) => {
    expect(keyGaps(contractSchema.parse(input))).toEqual(gaps);
  });
});

test.each<[string, object]>([
  ['retentionMs', { retentionMs: 0 }],
  ['retentionMs', { retentionMs: 1.5 }],
  ['scope', { scope: { ...scope, region: '' } }],
  ['scope', { scope: { receiver: 'bank' } }],
  ['closing', { closing: true }],
  ['inquiry', { inquiry: { consistency: 'eventual', settleMs: 0 } }],
])('R-026 a contract with a bad %s is refused at that field: %j', (field, input) => {
  expect(contractSchema.safeParse(input).error?.issues[0]?.path[0]).toBe(field);
});

test.each(['interface', 'resource'])(
  'R-024 R-026 a scope may name its %s, and an empty name is none',
  (part) => {
    const named = (value: string) =>
      contractSchema.safeParse({ scope: { ...scope, [part]: value } });
    expect(named('v2').data?.scope).toEqual({ ...scope, [part]: 'v2' });
    expect(named('').error?.issues[0]?.path[0]).toBe('scope');
    expect(keyGaps(contractSchema.parse({ ...key, scope: { ...scope, [part]: 'v2' } }))).toEqual(
      [],
    );
  },
);

test.each([
  [true, ['trace', 'sentAt']],
  [false, ['']],
  [false, 'trace'],
])(
  'R-019 fields that may change without another intent are names (%s): %j',
  (isOne, changeable) => {
    expect(contractSchema.safeParse({ changeable }).success).toBe(isOne);
  },
);

test('R-024 A17 the receiver domain keeps its parts apart', () => {
  const domain = (over: object) => domainOf(contractSchema.parse({ scope: { ...scope, ...over } }));
  expect(domainOf(contractSchema.parse({}))).toBeNull();
  expect(domain({})).toBe('bank/acme/w1/eu');
  expect(domain({ receiver: 'a/b', account: 'c' })).not.toBe(
    domain({ receiver: 'a', account: 'b/c' }),
  );
  expect(domain({ interface: 'v2' })).toBe('bank/acme/w1/eu/interface=v2');
  expect(domain({ resource: 'v2' })).toBe('bank/acme/w1/eu/resource=v2');
  expect(domain({ interface: 'v2', resource: 'a=b/c' })).toBe(
    'bank/acme/w1/eu/interface=v2/resource=a%3Db%2Fc',
  );
});
