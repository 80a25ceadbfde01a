// Catches: a suite that believes what a receiver says. Each liar lies about one thing: that field
// has to be named, and no other. Effects are counted in the liar's own books.

import { expect, test } from 'vitest';
import {
  assertContract,
  contractProbes,
  type Instead,
} from '../../../activities/contract-suite.ts';
import type { ContractInput, Level } from '../../../core/contract.ts';
import { honest } from '../../support/zoo.ts';
import {
  credulous,
  earlyRecord,
  executeKeyless,
  forget,
  hasty,
  lagging,
  lateChange,
  lateRecord,
  shut,
} from '../../support/zoo-habits.ts';
import { checkZoo, fullContract, type ZooSetUp } from '../../support/zoo-tool.ts';

interface Liar extends ZooSetUp {
  /** By field; the first is the lie, another one follows from it. */
  readonly instead: Instead;
  /** What is left. */
  readonly level: Level;
}

const open: ContractInput = { ...fullContract, closing: 'none' };
const byKey: ContractInput = { ...fullContract, closing: 'by_key' };

test('B9 A13 A14 R-102 an honest receiver is what it declares, each field tried', async () => {
  const report = await checkZoo({});
  expect(report.problems).toEqual([]);
  expect(report).toMatchObject({ declaredLevel: 'L3', level: 'L3', notes: [] });
  const lines = report.fields.flatMap(({ how }) => how);
  expect(lines).toHaveLength(contractProbes.length);
  expect(lines.filter((line) => line.includes('not checked'))).toEqual([]);
  assertContract(report);
});

const liars: readonly (readonly [rules: string, lie: string, Liar])[] = [
  [
    'R-102 B4',
    'ignores the send token',
    {
      habits: { isFenced: () => false },
      instead: { fencing: 'none' },
      level: 'L2',
    },
  ],
  [
    'R-102 B3 B5',
    'looks at the send token some time before the change',
    {
      habits: lateChange,
      instead: { fencing: 'none' },
      level: 'L2',
    },
  ],
  [
    'B4',
    'has one fence for all runs',
    {
      habits: { fenced: () => 'all' },
      instead: { fencing: 'none' },
      level: 'L2',
    },
  ],
  [
    'B5',
    'forgets its fences when it is killed',
    {
      habits: { kill: ({ fences }) => fences.clear() },
      instead: { fencing: 'none' },
      level: 'L2',
    },
  ],
  [
    'R-028',
    'ignores the key',
    {
      habits: { replay: () => null },
      instead: { identity: 'none' },
      level: 'L3',
    },
  ],
  [
    'A3 R-028',
    'tells another payload the first outcome',
    {
      habits: { replay: ({ id }) => ({ state: 'executed', id, keyed: true }) },
      instead: { identity: 'none' },
      level: 'L3',
    },
  ],
  [
    'A3',
    'executes another payload under a known key',
    {
      habits: {
        replay: (known, call) =>
          known.payload === call.payload ? honest.replay(known, call) : null,
      },
      instead: { identity: 'none' },
      level: 'L3',
    },
  ],
  [
    'A12',
    'has an adapter that takes a reply without a mark for keyed',
    {
      habits: { keyless: executeKeyless },
      tool: credulous,
      instead: { identity: 'none' },
      level: 'L3',
    },
  ],
  [
    'A1 R-024',
    'knows keys without their principal',
    {
      habits: { identity: ({ key }) => key },
      instead: { scope: 'none' },
      level: 'L3',
    },
  ],
  [
    'R-030 A4',
    'writes its record some time after the effect',
    {
      habits: lateRecord,
      instead: { retentionMs: 'none' },
      level: 'L3',
    },
  ],
  [
    'R-030 A4',
    'writes its record some time before the effect',
    {
      habits: earlyRecord,
      instead: { retentionMs: 'none', fencing: 'none' },
      level: 'L1',
    },
  ],
  [
    'R-030',
    'keeps its records in memory',
    {
      habits: { kill: ({ records }) => records.clear() },
      instead: { retentionMs: 'none' },
      level: 'L3',
    },
  ],
  [
    'R-027',
    'forgets keys before their time',
    {
      habits: { sweep: ({ records, now }) => forget(records, now) },
      instead: { retentionMs: 'none' },
      level: 'L3',
    },
  ],
  [
    'R-037',
    'answers from a replica that lags behind',
    {
      habits: lagging(),
      contract: open,
      instead: { inquiry: { consistency: 'lagging', settleMs: expect.any(Number) } },
      level: 'L2',
    },
  ],
  [
    'R-035',
    'names another outcome when it is asked',
    {
      habits: {
        look(books, identity, call) {
          const known = honest.look(books, identity, call);
          return known?.state === 'executed' ? { ...known, id: 'effect-0' } : known;
        },
      },
      instead: { inquiry: 'none' },
      level: 'L3',
    },
  ],
  [
    'R-036',
    'does what it is asked about',
    {
      habits: {
        look(books, identity, call) {
          const known = honest.look(books, identity, call);
          if (known === null) books.effects.push(call.payload);
          return known;
        },
      },
      contract: open,
      instead: { inquiry: 'none' },
      level: 'L2',
    },
  ],
  [
    'R-037 R-038',
    'takes "no record" for "not executed"',
    {
      tool: hasty,
      contract: open,
      instead: { inquiry: 'none' },
      level: 'L2',
    },
  ],
  [
    'A13',
    'says closed after a plain look',
    {
      habits: { close: () => ({ state: 'closed' }) },
      instead: { closing: 'none' },
      level: 'L2',
    },
  ],
  [
    'A13',
    'closes the whole key instead of a token',
    {
      habits: { close: (books, identity) => shut(books, identity) },
      instead: { closing: 'by_key' },
      level: 'L3',
    },
  ],
  [
    'A13',
    'closes a token instead of the whole key',
    {
      contract: byKey,
      instead: { closing: 'by_token' },
      level: 'L3',
    },
  ],
  [
    'A14',
    'opens the door again after the first late request',
    {
      habits: {
        isClosed(books, identity, call) {
          const isClosed = honest.isClosed(books, identity, call);
          books.closings.delete(identity);
          return isClosed;
        },
      },
      instead: { closing: 'none' },
      level: 'L2',
    },
  ],
  [
    'A13 A6',
    'closes what it is at work on',
    {
      habits: {
        look({ records }, identity) {
          const known = records.get(identity);
          return known === undefined ? null : { state: 'executed', id: known.id };
        },
      },
      instead: { closing: 'none' },
      level: 'L2',
    },
  ],
  [
    'A14',
    'forgets its closings when it is killed',
    {
      habits: { kill: ({ closings }) => closings.clear() },
      instead: { closing: 'none' },
      level: 'L2',
    },
  ],
  [
    'A14',
    'forgets closings before keys',
    {
      habits: { sweep: ({ closings, now }) => forget(closings, now) },
      instead: { closing: 'none' },
      level: 'L2',
    },
  ],
];

test.each(liars)('%s whoever %s is caught', async (_rules, _lie, liar) => {
  const report = await checkZoo(liar);
  const fields = Object.keys(liar.instead);
  expect(report.problems.map(({ field }) => field).sort()).toEqual(fields.sort());
  expect(Object.assign({}, ...report.problems.map(({ instead }) => instead))).toEqual(liar.instead);
  expect(report.level).toBe(liar.level);
  for (const field of fields) expect(() => assertContract(report)).toThrow(`  ${field}: declared `);
});

test('A12 an adapter that looks for the mark is not taken in by a reply without one', async () => {
  const report = await checkZoo({ habits: { keyless: executeKeyless } });
  expect(report.problems).toEqual([]);
  expect(report.fields.find(({ field }) => field === 'identity')?.how).toContainEqual(
    expect.stringMatching(/without Idempotency-Key: 1 effect, no settlement/),
  );
});
