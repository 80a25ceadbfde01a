// Would catch: a way of writing that a crash can leave in a state which the inquiry misreads, and
// an answer that a frozen process makes untrue afterwards. The writer's process comes to its end on
// entry of every system call that it makes; the ledger is real, the marks in it are those of the
// tool, and a process of its own asks. The truth is the disk's.

import { expect, test } from 'vitest';
import type { FileSystem } from '../../../activities/tools/files/system.ts';
import {
  type FileAction,
  type FileRig,
  fileRig,
  type Inquired,
  type Work,
} from '../../support/file-rig.ts';
import type { Fate } from '../../support/mortal-files.ts';

/** What a power cut would do is tried elsewhere; a disk takes its time to be synced. */
const quick: Partial<FileSystem> = {
  syncFile: async () => undefined,
  syncDirectory: async () => undefined,
};
const noExchange = () =>
  Promise.reject(Object.assign(new Error('EINVAL: renameat2'), { code: 'EINVAL' }));

const ways: readonly [string, Work, Partial<FileSystem>][] = [
  ['create, by link', 'create', quick],
  ['replace, by exchange', 'replace', quick],
  ['replace, by rename', 'replace', { ...quick, addonMissing: () => 'not installed' }],
  ['replace, by rename for want of an exchange', 'replace', { ...quick, swap: noExchange }],
];

/** The calls of one write that nothing happens to. */
async function callsOf(rig: FileRig, work: Work): Promise<readonly string[]> {
  const writer = rig.process();
  const action = await rig.action(work);
  expect(await writer.perform(action.call())).toMatchObject({ settled: 'executed' });
  expect([rig.isPublished(action), rig.beside(action)]).toEqual([true, []]);
  return [...writer.calls];
}

const kindOf = (reply: Inquired | undefined) => reply?.outcome?.kind ?? null;
/** What nobody but the writer could have told stays missing. */
const DONE = 'executed_result_missing';
const truth = (rig: FileRig, action: FileAction) =>
  rig.isPublished(action) ? DONE : 'not_executed';

/** Another attempt has its effect, and clears away what the first left. */
async function goesOn(rig: FileRig, action: FileAction): Promise<void> {
  expect(await rig.process().perform(action.call())).toMatchObject({ settled: 'executed' });
  expect([rig.isPublished(action), rig.beside(action)]).toEqual([true, []]);
}

const ends: readonly Fate[] = ['dies', 'fails_and_dies', 'fails'];
const cases = ways.flatMap(([way, ...rest], index) =>
  // What is only another last step is killed, and that is that.
  ends.slice(0, index < 2 ? 3 : 1).map((fate) => [way, fate, ...rest] as const),
);

test.each(cases)('C12 R-125 R-127 %s: at every call it %s', async (_way, fate, work, over) => {
  const rig = await fileRig(over);
  for (const [index, name] of (await callsOf(rig, work)).entries()) {
    const at = `${fate} at ${index + 1}, ${name}`;
    const action = await rig.action(work);
    const call = action.call();
    const writer = rig.process({ at: index + 1, fate });
    const performed = await writer.perform(call);
    const before = truth(rig, action);
    if (performed?.settled != null) {
      expect(before === DONE, at).toBe(performed.settled === 'executed');
      continue;
    }
    await rig.process().doubt(call);
    expect(kindOf(await rig.process().inquire(action)), at).toBe(before);
    expect(truth(rig, action), at).toBe(before);
    if (before === 'not_executed') await goesOn(rig, action);
    expect(rig.beside(action), at).toEqual([]);
    writer.bury();
  }
});

/** One of each phase: unprepared, right before the publication, after it. */
const telling = new Set(['write', 'link', 'swap', 'rename', 'unlink']);

test.each(ways)(
  'R-127 %s: whoever asks dies at any call, another asks',
  async (_way, work, over) => {
    const rig = await fileRig(over);
    for (const [index, name] of (await callsOf(rig, work)).entries()) {
      if (!telling.has(name)) continue;
      for (let at = 1, lost = true; lost; at++) {
        const action = await rig.action(work);
        const call = action.call();
        const writer = rig.process({ at: index + 1 });
        await writer.perform(call);
        const before = truth(rig, action);
        await rig.process().doubt(call);
        const first = rig.process({ at });
        lost = (await first.inquire(action)) === undefined;
        const where = `writer at ${name}, asker at ${at}, ${first.calls.at(-1)}`;
        expect(kindOf(await rig.process().inquire(action)), where).toBe(before);
        expect(truth(rig, action), where).toBe(before);
        for (const dead of [writer, first]) dead.bury();
      }
    }
  },
);

/** They do not wait, so nothing can stop in them. */
const immediate = new Set(['tryLock', 'unlock']);

test.each(ways)(
  'C11 R-127 %s: frozen at any call, asked about, woken',
  async (_way, work, over) => {
    const rig = await fileRig(over);
    for (const [index, name] of (await callsOf(rig, work)).entries()) {
      if (immediate.has(name)) continue;
      const action = await rig.action(work);
      const call = action.call();
      const writer = rig.process({ at: index + 1, fate: 'stands' });
      const performing = writer.perform(call);
      await writer.reached;
      const at = `frozen at ${index + 1}, ${name}`;
      const before = truth(rig, action);
      await rig.process().doubt(call);
      expect(kindOf(await rig.process().inquire(action)), at).toBe(before);
      writer.goOn();
      const performed = await performing;
      expect(truth(rig, action), `${at}, woken`).toBe(before);
      if (before === DONE) continue;
      expect(performed?.settled, at).not.toBe(DONE);
      await goesOn(rig, action);
    }
  },
);

test.each(ways)('C11 %s: prepared and published while it was asked', async (_way, work, over) => {
  const rig = await fileRig(over);
  const calls = await callsOf(rig, work);
  const action = await rig.action(work);
  const draft = calls.indexOf('createNew') + 1;
  const writer = rig.process({ at: draft, fate: 'stands', diesAt: calls.length });
  const performing = writer.perform(action.call());
  await writer.reached;
  // It has read that nothing is prepared, and stands before it looks at the disk.
  const asker = rig.process({ at: 1, fate: 'stands' });
  const asking = asker.inquire(action);
  await asker.reached;
  writer.goOn();
  await Promise.race([performing, writer.died]);
  expect(truth(rig, action)).toBe(DONE);
  asker.goOn();
  expect(kindOf(await asking)).toBeNull();
  expect(kindOf(await rig.process().inquire(action))).toBe(DONE);
  writer.bury();
});
