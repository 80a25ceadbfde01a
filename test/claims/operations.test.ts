// A check whose seed gives another play cannot be had again, and one that draws no fault of a kind
// says nothing about it.

import { expect, test } from 'vitest';
import { createRegistry } from '../../activities/index.ts';
import { claimTools } from './claim-tools.ts';
import {
  askFaults,
  playFrom,
  requestFaults,
  strikeKinds,
  toolNames,
  toolRows,
} from './operations.ts';

const size = { seed: 1, ops: 300, runs: 20, prefix: 'p' };

test('the same seed gives the same operations and faults, another seed gives others', () => {
  expect(playFrom(size)).toEqual(playFrom(size));
  expect(playFrom({ ...size, seed: 2 })).not.toEqual(playFrom(size));
});

test('three hundred operations meet every tool, every fault and every strike', () => {
  const { ops, strikes } = playFrom(size);
  expect(new Set(ops.map(({ tool }) => tool))).toEqual(new Set(toolNames));
  const requests = new Set(ops.map((op) => op.requests[0]));
  expect(requests).toEqual(new Set([null, ...requestFaults]));
  const asks = new Set(ops.flatMap((op) => op.asks));
  expect(asks).toEqual(new Set([null, ...askFaults]));
  expect(new Set(strikes.map(({ kind }) => kind))).toEqual(new Set(strikeKinds));
});

test('each operation has an id of its own, and its run has it at that position', () => {
  const { ops, runIds } = playFrom({ ...size, ops: 41, runs: 4 });
  expect(new Set(ops.map(({ id }) => id)).size).toBe(41);
  const first = ops.filter(({ runId }) => runId === runIds[0]);
  expect(first.map(({ id }) => id)).toEqual(first.map((_, index) => `p-1.t${index + 1}.c1`));
});

test('what a contract rules out is not drawn', () => {
  const { ops } = playFrom({ ...size, ops: 3_000 });
  const broken = ops.filter(({ tool, requests, asks }) => {
    const never: readonly (string | null)[] = toolRows[tool].never;
    return [...requests, ...asks].some((fault) => never.includes(fault));
  });
  expect(broken).toEqual([]);
});

test('every tool has the level that its row names', () => {
  const settings = {
    ...{ receiverUrl: 'http://127.0.0.1:1', gatewayUrl: 'http://127.0.0.1:2' },
    ...{ bundlePath: 'none', lies: [] },
  };
  const defaults = { startToCloseMs: 1_000, heartbeatTimeoutMs: 1_000, scheduleToStartMs: 1_000 };
  const { tools } = createRegistry(claimTools(settings), defaults);
  const levels = [...tools].map(([name, { policy }]) => [name, policy.level]);
  expect(levels).toEqual(toolNames.map((name) => [name, toolRows[name].level]));
});
