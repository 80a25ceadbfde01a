// Would catch: what a real SIGKILL leaves behind at a point that the decorated system calls of
// `test/activities/files` do not have, on a real disk with a real ledger; and a file, directory or
// ledger that is synced too late to be believed after a power cut.

import { availableParallelism } from 'node:os';
import { beforeAll, expect, test } from 'vitest';
import { type FileRig, fileRig, type Work } from '../support/file-rig.ts';
import { type Kill, killedAt, type TracedCall, tracedCalls } from '../support/traced-writer.ts';

/** Each point starts a process twice; a crowded machine takes its time for that. */
const GIVE_UP_MS = 900_000;

beforeAll(() => {
  if (process.getuid?.() !== 0 || process.platform !== 'linux')
    throw new Error('test:crash traces processes by strace: run it as root on Linux');
});

const isLedger = ({ text }: TracedCall) => text.includes('ledger.db');
/** The wake-up of a thread, a line of stdout, the id of the machine: no step of the work. */
const isNoStep = ({ text }: TracedCall) =>
  /^\d+<(anon_inode|socket|pipe)|\/proc\/sys\/|writer\.log/.test(text);

function killPoints(calls: readonly TracedCall[]): TracedCall[] {
  return calls.filter((call) => !isNoStep(call));
}

/** In words: what is synced or published, in order. */
function stepsOf(calls: readonly TracedCall[]): string[] {
  return calls.flatMap((call) => {
    const { name, text } = call;
    if (/^(rename|link)/.test(name)) return ['publish'];
    if (!/^f(data)?sync$/.test(name)) return [];
    if (isLedger(call)) return ['sync ledger'];
    if (text.includes('.draft')) return ['sync draft'];
    return /\/d\d+>/.test(text) ? ['sync directory'] : [];
  });
}

/**
 * As many at once as there is room for. Each with a new ledger: how many pages a commit writes
 * depends on what was written before, and calls are told apart by their number.
 */
async function inLanes<T>(items: readonly T[], work: (rig: FileRig, item: T) => Promise<void>) {
  const waiting = [...items];
  const lanes = Array.from({ length: availableParallelism() }, async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift())
      await work(await fileRig(), item);
  });
  await Promise.all(lanes);
}

test.each<Work>(['create', 'replace'])(
  'K-109 C3 C12 R-125 R-127 %s, killed on entry of every call: the truth is found',
  async (work) => {
    const first = await fileRig();
    const calls = await tracedCalls(first, (await first.action(work)).call());
    expect(stepsOf(calls).slice(-5)).toEqual([
      'sync draft',
      'sync ledger',
      'publish',
      'sync directory',
      'sync ledger',
    ]);
    const points = killPoints(calls);
    const kinds = new Set(points.map(({ name }) => name.replace(/at2?$|64$/, '')));
    expect([...kinds]).toEqual(
      expect.arrayContaining([
        'open',
        'pwrite',
        'fsync',
        'unlink',
        work === 'create' ? 'link' : 'rename',
      ]),
    );
    const kills = points.flatMap((point) =>
      (['alone', 'failing'] as const).map((kill) => ({ point, kill })),
    );
    const found = { executed: 0, not_executed: 0 };
    await inLanes(kills, async (rig, { point, kill }: { point: TracedCall; kill: Kill }) => {
      const at = `${kill}, ${point.name} ${point.nth} on thread ${point.thread}: ${point.text}`;
      const action = await rig.action(work);
      const call = action.call();
      await killedAt(rig, call, point, kill);
      const truth = rig.isPublished(action) ? 'executed' : 'not_executed';
      await rig.process().doubt(call);
      const reply = await rig.process().inquire(action);
      expect(reply?.outcome?.kind.replace('_result_missing', ''), at).toBe(truth);
      expect(rig.isPublished(action), at).toBe(truth === 'executed');
      found[truth]++;
      if (truth === 'executed') return expect(rig.beside(action), at).toEqual([]);
      expect(await rig.process().perform(action.call()), at).toMatchObject({ settled: 'executed' });
      expect([rig.isPublished(action), rig.beside(action)], at).toEqual([true, []]);
    });
    expect(found.executed + found.not_executed).toBe(kills.length);
    expect(Math.min(found.executed, found.not_executed)).toBeGreaterThan(0);
  },
  GIVE_UP_MS,
);
