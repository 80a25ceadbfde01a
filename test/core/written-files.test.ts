// Catches: a file that went back to what it was and still counts as written, and a file that looks
// right taken for a receipt.

import { describe, expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import {
  type Found,
  fileFindings,
  preparedDrafts,
  writtenFiles,
} from '../../core/written-files.ts';
import { enter, open, RUN, settle } from '../support/asks.ts';
import { bodies } from '../support/fact-bodies.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { inquire, resolve } from '../support/story.ts';

const h0 = digestOf('h0');
const h1 = digestOf('h1');
const h2 = digestOf('h2');
const h3 = digestOf('h3');
const idOf = (step: number) => `${RUN}.t${step}.c1`;

function begin(l: MemoryLedger, step: number) {
  const [actionId, attemptId] = [idOf(step), `${idOf(step)}~1`];
  if (enter(l, { actionId, attemptId, entryToken: attemptId }).verdict !== 'entered')
    throw new Error(`${actionId} did not enter`);
}

/** An attempt that has prepared and is open. */
function prepare(l: MemoryLedger, step: number, old: string, wrote: string, target = 'a.txt') {
  const [actionId, attemptId] = [idOf(step), `${idOf(step)}~1`];
  if (!l.run(RUN).actions.has(actionId)) begin(l, step);
  const marks = { target, old, new: wrote, draft: 'd/.d.draft' };
  const body = bodies.attempt_prepared(l, { actionId, attemptId, marks });
  l.write(RUN, { source: 'execution', body });
  return { actionId, attemptId };
}

function told(...steps: readonly ((l: MemoryLedger, step: number) => void)[]) {
  const ledger = memoryLedger();
  open(ledger);
  for (const [index, step] of steps.entries()) step(ledger, index + 1);
  return writtenFiles(ledger.run(RUN));
}

const write =
  (old: string, wrote: string, target = 'a.txt') =>
  (l: MemoryLedger, step: number) =>
    settle(l, { ...prepare(l, step, old, wrote, target), externalId: target });

const states = (files: ReturnType<typeof told>, now: Found) =>
  fileFindings(files, () => now).map(({ state }) => state);

describe('R-082 K-110 what is at the path of a file that was written', () => {
  test.each<[string, Found, string]>([
    ['what was written', h1, 'as_written'],
    ['what it had replaced', h0, 'gone_back'],
    ['nothing', 'absent', 'missing'],
    ['something else', h3, 'changed'],
    ['a directory', 'no_file', 'changed'],
    ['what cannot be read', 'unreadable', 'unreadable'],
  ])('replaced, and there is %s', (_what, now, state) => {
    expect(states(told(write(h0, h1)), now)).toEqual([state]);
  });

  test.each<[string, Found, string]>([
    ['it', h1, 'as_written'],
    ['nothing again', 'absent', 'gone_back'],
    ['something else', h0, 'changed'],
  ])('created, and there is %s', (_what, now, state) => {
    expect(states(told(write('absent', h1)), now)).toEqual([state]);
  });

  test.each<[string, Found, string]>([
    ['the second', h2, 'as_written'],
    ['the first', h1, 'gone_back'],
    ['what stood before both', h0, 'gone_back'],
    ['something else', h3, 'changed'],
  ])('replaced twice, and there is %s', (_what, now, state) => {
    expect(states(told(write(h0, h1), write(h1, h2)), now)).toEqual(['overwritten', state]);
  });

  test('put back to an earlier content by an action of its own', () => {
    const files = told(write(h0, h1), write(h1, h0));
    expect(states(files, h0)).toEqual(['overwritten', 'as_written']);
    expect(fileFindings(files, () => h0)[0]).toMatchObject({ by: idOf(2), found: h0 });
  });

  test('the order is that of preparing, whatever was known first', () => {
    const files = told(
      (l) => prepare(l, 1, h0, h1),
      write(h1, h2),
      (l) => inquire(l, { actionId: idOf(1), verdict: 'executed', externalId: 'a.txt' }),
    );
    expect(files.map(({ actionId }) => actionId)).toEqual([idOf(1), idOf(2)]);
    expect(states(files, h2)).toEqual(['overwritten', 'as_written']);
  });

  test('the order is that of preparing, whichever entered first', () => {
    const files = told(begin, write(h0, h1), (l) => write(h1, h2)(l, 1));
    expect(files.map(({ actionId }) => actionId)).toEqual([idOf(2), idOf(1)]);
    expect(states(files, h2)).toEqual(['overwritten', 'as_written']);
  });

  test('of two paths each is looked at by itself', () => {
    const files = told(write('absent', h1, 'a.txt'), write('absent', h1, 'b.txt'));
    const found = fileFindings(files, (path) => (path === 'a.txt' ? h1 : 'absent'));
    expect(found.map(({ path, state }) => [path, state])).toEqual([
      ['a.txt', 'as_written'],
      ['b.txt', 'gone_back'],
    ]);
  });
});

describe('R-082 which actions wrote a file', () => {
  test('found by asking, the object matches and the result stays missing', () => {
    const files = told(
      (l, step) => prepare(l, step, h0, h1),
      (l) => inquire(l, { actionId: idOf(1), verdict: 'executed', externalId: 'a.txt' }),
    );
    expect(fileFindings(files, () => h1)).toMatchObject([
      { state: 'as_written', result: 'missing', wrote: h1, replaced: h0, tool: 'charge_card' },
    ]);
  });

  test('confirmed by a person, it is what had been prepared', () => {
    const files = told(
      (l, step) => prepare(l, step, h0, h1),
      (l) => {
        const { recordVersion } = l.run(RUN).actions.get(idOf(1)) ?? { recordVersion: 1 };
        resolve(l, { verb: 'confirm_executed', actionId: idOf(1), recordVersion });
      },
    );
    expect(files).toMatchObject([{ actionId: idOf(1), wrote: h1, result: 'missing' }]);
  });

  test.each<[string, (l: MemoryLedger, step: number) => void]>([
    ['one that is open', (l, step) => prepare(l, step, h0, h1)],
    [
      'one that was refused',
      (l, step) => settle(l, { ...prepare(l, step, h0, h1), outcome: 'refused' }),
    ],
    [
      'one that prepared something else',
      (l, step) => settle(l, prepare(l, step, 'not a digest', h1)),
    ],
    [
      'one that prepared nothing',
      (l, step) => {
        const ids = { actionId: idOf(step), attemptId: `${idOf(step)}~1` };
        enter(l, ids);
        settle(l, ids);
      },
    ],
  ])('%s is none', (_what, tell) => {
    expect(told(tell)).toEqual([]);
  });
});

test('C13 drafts are known of each attempt that prepared one, ended or not', () => {
  const ledger = memoryLedger();
  open(ledger);
  write(h0, h1)(ledger, 1);
  prepare(ledger, 2, h1, h2);
  const [actionId, attemptId] = [idOf(3), `${idOf(3)}~1`];
  enter(ledger, { actionId, attemptId, entryToken: attemptId });
  expect(preparedDrafts(ledger.run(RUN))).toEqual([
    { actionId: idOf(1), stem: 'd/.d', over: true },
    { actionId: idOf(2), stem: 'd/.d', over: false },
  ]);
});
