// Catches: a report about a set-up that tests nothing, and silence about what was left untried.

import { expect, test } from 'vitest';
import { checkContract, SubjectError } from '../../../activities/contract-suite.ts';
import type { AnyTool } from '../../../activities/index.ts';
import type { ContractInput } from '../../../core/contract.ts';
import { openZoo } from '../../support/zoo.ts';
import { fullContract, zooTool } from '../../support/zoo-tool.ts';

async function bare(contract: ContractInput = fullContract) {
  const zoo = await openZoo();
  return {
    adapter: (baseUrl: string) => zooTool(baseUrl, contract) as AnyTool,
    endpoint: zoo.url,
    input: (n: number) => ({ name: `thing ${n}` }),
    effects: async ({ input }: { input: Parameters<typeof zoo.count>[0] }) => zoo.count(input),
  };
}

test('R-026 what the author gives no way to try is declared and not checked', async () => {
  const report = await checkContract(await bare());
  expect(report).toMatchObject({ declaredLevel: 'L3', level: 'L3', problems: [] });
  expect(report.notes).toEqual([
    'scope: declared, not checked',
    'retentionMs: declared, not checked',
  ]);
  const found = report.fields.filter(({ found }) => found === 'not checked');
  expect(found.flatMap(({ how }) => how)).toEqual([
    expect.stringContaining('not checked: principals names no two of them'),
    expect.stringContaining('not checked: principals names no two of them'),
    expect.stringContaining('not checked: restart is not given'),
    expect.stringContaining('not checked: restart is not given'),
    expect.stringContaining('not checked: passTime is not given'),
  ]);
});

test('B9 to declare less than there is breaks nothing: it is noted', async () => {
  const report = await checkContract(await bare({ inquiry: fullContract.inquiry ?? 'none' }));
  expect(report).toMatchObject({ declaredLevel: 'L1', level: 'L1', problems: [] });
  expect(report.notes).toEqual([
    'identity: nothing is declared, and what was tried held',
    'closing: nothing is declared, and what was tried held',
    'fencing: nothing is declared, and what was tried held',
  ]);
});

test('an inquiry and a closing that nobody can ask for are no promise', async () => {
  const { adapter, ...rest } = await bare();
  const report = await checkContract({
    ...rest,
    adapter: (baseUrl) => {
      const { inquire: _, ...tool } = adapter(baseUrl);
      return tool;
    },
  });
  expect(report.problems.map(({ field, saw }) => [field, saw[0]])).toEqual([
    ['inquiry', expect.stringContaining('the tool has no inquire')],
    ['closing', expect.stringContaining('the tool has no inquire')],
  ]);
  expect(report.level).toBe('L2');
});

test('an end point at two addresses is reached over a wire for each', async () => {
  const zoo = await openZoo();
  const report = await checkContract({
    adapter: (askedAt, [, sentTo = '']) =>
      ({
        ...zooTool(askedAt, fullContract),
        execute: zooTool(sentTo, fullContract).execute,
      }) as AnyTool,
    endpoint: [zoo.url, zoo.url],
    input: (n) => ({ name: `thing ${n}` }),
    effects: async ({ input }) => zoo.count(input),
  });
  expect(report).toMatchObject({ level: 'L3', problems: [] });
});

test.each([
  ['a count that sees nothing', { effects: async () => 0 }, /effects\(\) counts 0/],
  ['a count that sees everything', { effects: async () => 1 }, /counts 1 of a request that was/],
  ['a count that is none', { effects: async () => Number.NaN }, /effects\(\) gave NaN/],
  ['an input that is not taken', { input: () => ({ name: 7 }) }, /does not take its own input/],
  [
    'an input that was used before',
    { input: () => ({ name: 'one' }) },
    /gave {"name":"one"} twice/,
  ],
  ['an end point that is not there', { endpoint: 'http://127.0.0.1:9' }, /came to no settlement/],
  ['no request that may have an effect', { isEffect: () => false }, /no request that may have an/],
])('%s ends the suite: there is nothing to report', async (_what, wrong, words) => {
  const checking = checkContract({ ...(await bare()), ...wrong });
  await expect(checking).rejects.toThrow(SubjectError);
  await expect(checking).rejects.toThrow(words);
});
