// Would catch: a file that is written again, or never, because its writer was killed between its
// marks and the stored result; a writer that was frozen right before it publishes, and does so
// after the run was told that it never did; and a takeover that lets one do so.
//
// The truth is on the disk: which inode has the name, with what content. Every call that publishes
// is written down by whoever makes it, once it is back.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestOfBytes } from '../../core/digest.ts';
import type { Child } from '../../examples/support-desk/child.ts';
import { until } from '../support/fault-stage.ts';
import { type Publication, publicationsIn } from '../support/standing-files.ts';
import { tempDirOfFile, triedDirOfFile } from '../support/temp-dir.ts';
import { openZombieStage, WITHIN_MS, type ZombieStage } from '../support/zombie-stage.ts';

const OLD = 'the old content\n';
const NEW = 'the new content, somewhat longer\n';
const root = triedDirOfFile();
const logPath = join(tempDirOfFile(), 'publications');
const actionOf = (runId: string) => `${runId}.t1.c1`;
const fileOf = (runId: string) => `${runId}.txt`;
const pathOf = (runId: string) => join(root, runId, fileOf(runId));

let stage: ZombieStage;
beforeAll(async () => {
  stage = await openZombieStage({
    program: 'test/support/file-stand-worker.ts',
    env: { FILE_ROOT: root, PUBLICATIONS: logPath },
  });
  await stage.worker(['runs', 'actions', 'inquiries']);
});
afterAll(() => stage.close());

/** In a directory of its own; what is to be replaced is there. */
async function start(runId: string, tool: string): Promise<void> {
  mkdirSync(join(root, runId));
  const isNew = tool.startsWith('create');
  if (!isNew) writeFileSync(pathOf(runId), OLD);
  const expected = isNew ? {} : { expect: digestOfBytes(Buffer.from(OLD)) };
  const input = { path: `${runId}/${fileOf(runId)}`, content: NEW, ...expected };
  await stage.start(runId, [{ tool, input }]);
}

const publicationsOf = (runId: string) =>
  publicationsIn(logPath).filter(({ target }) => target === fileOf(runId));

const said = (publications: readonly Publication[]) =>
  publications.map((each) => `${each.attempt === 1 ? 'first' : 'later'}: ${each.said}`);

/** Whole, by the one publication that was taken, and nothing of ours beside it but the lock. */
function expectPublished(runId: string): void {
  const done = publicationsOf(runId).filter((each) => each.said === 'done');
  expect(done.map(({ inode }) => inode)).toEqual([
    String(statSync(pathOf(runId), { bigint: true }).ino),
  ]);
  expect(readFileSync(pathOf(runId), 'utf8')).toBe(NEW);
  const names = readdirSync(join(root, runId)).filter((name) => !name.endsWith('.lock'));
  expect(names).toEqual([fileOf(runId)]);
}

/** What was found by asking has no result: a file is no receipt. */
async function expectCompleted(runId: string, by: 'told' | 'asked'): Promise<void> {
  const outcome = by === 'told' ? 'executed' : 'executed_result_missing';
  expect(await stage.client.result(runId)).toMatchObject({
    ...{ end: { kind: 'completed' }, effectsCount: 1, unknownsCount: 0 },
    effects: [{ actionId: actionOf(runId), outcome }],
  });
}

describe('a writer that is killed, and another goes on', () => {
  const cases = [
    ['create_file', 'before_prepare', 'later: done'],
    ['replace_file', 'before_prepare', 'later: done'],
    ['create_file', 'before_publish', 'later: done'],
    ['replace_file', 'before_publish', 'later: done'],
    ['create_file', 'after_publish', 'first: done'],
    ['replace_file', 'after_publish', 'first: done'],
    ['create_file', 'before_result', 'first: done'],
    ['replace_file', 'before_result', 'first: done'],
  ] as const;
  const runOf = (tool: string, point: string) =>
    `file-killed-${tool}-${point}`.replaceAll('_', '-');
  const before = new Map<string, { readonly old: string | null; readonly names: string[] }>();
  let other: Child;

  beforeAll(async () => {
    const writer = await stage.worker(['tools'], { slots: cases.length });
    const abouts = cases.map(([tool, point]) => {
      const runId = runOf(tool, point);
      const about = point.endsWith('_publish') ? fileOf(runId) : actionOf(runId);
      stage.arm({ point, about });
      return `${point} ${about}`;
    });
    for (const [tool, point] of cases) await start(runOf(tool, point), tool);
    for (const about of abouts) await writer.line(`REACHED ${about}`, WITHIN_MS);
    await writer.kill();
    for (const [tool, point] of cases) before.set(runOf(tool, point), found(runOf(tool, point)));
    other = await stage.worker(['tools']);
  });
  afterAll(() => other.kill());

  /** As the killed writer left it. */
  function found(runId: string) {
    const names = readdirSync(join(root, runId));
    const old = names.includes(fileOf(runId)) ? readFileSync(pathOf(runId), 'utf8') : null;
    return { old, names: names.filter((name) => name.endsWith('.draft')) };
  }

  test.each(cases)(
    'R-082 R-125 R-127 C11 K-106 %s, killed at %s: one file, %s',
    async (tool, point, by) => {
      const runId = runOf(tool, point);
      await expectCompleted(runId, by === 'later: done' ? 'told' : 'asked');
      expect(said(publicationsOf(runId))).toEqual([by]);
      expectPublished(runId);
      const left = before.get(runId);
      const untouched = tool === 'create_file' ? null : OLD;
      expect(left?.old).toBe(by === 'later: done' ? untouched : NEW);
      if (point !== 'before_result') expect(left?.names).toHaveLength(1);
    },
  );
});

describe('a writer that is frozen right before it publishes, while another goes on', () => {
  const cases = [
    ['create_file', 'asked'],
    ['replace_file', 'asked'],
    ['create_file', 'taken-over'],
    ['replace_file', 'taken-over'],
    ['create_unlocked', 'asked'],
    ['replace_unlocked', 'asked'],
    ['create_unlocked', 'taken-over'],
    ['replace_unlocked', 'taken-over'],
  ] as const;
  const runOf = (tool: string, how: string) => `file-frozen-${tool}-${how}`.replace('_', '-');
  const all = cases.map(([tool, how]) => ({ tool, how, runId: runOf(tool, how) }));
  const rows = (kind: 'file' | 'unlocked') =>
    cases.flatMap(([tool, how]) =>
      tool.endsWith(`_${kind}`) ? [[tool, how, runOf(tool, how)] as const] : [],
    );
  const [locked, unlocked] = [rows('file'), rows('unlocked')];

  beforeAll(async () => {
    const frozen = await stage.worker(['tools'], { slots: cases.length });
    const goOns = all.map(({ runId }) =>
      stage.arm({ point: 'before_publish', about: fileOf(runId) }),
    );
    for (const { runId, tool } of all) await start(runId, tool);
    for (const { runId } of all)
      await frozen.line(`REACHED before_publish ${fileOf(runId)}`, WITHIN_MS);
    frozen.freeze();
    for (const { runId, how } of all) if (how === 'taken-over') await takeOver(runId);
    await stage.worker(['tools']);
    // The one without a lock is published; the one with it waits, for a frozen holder has it.
    for (const [, , runId] of unlocked) await expectCompleted(runId, 'told');
    for (const [, , runId] of locked) await refusedByLock(runId);
    for (const goOn of goOns) goOn();
    frozen.thaw();
    for (const { runId } of all)
      await frozen.line(`PASSED before_publish ${fileOf(runId)}`, WITHIN_MS);
  });

  async function takeOver(runId: string): Promise<void> {
    await stage.temporal.workflow.getHandle(runId).terminate('its worker is silent');
    await stage.client.resume(runId, { actor: 'ann', reason: 'its worker is silent' });
  }

  const refusedByLock = (runId: string) =>
    until(`an attempt of ${runId} that the lock refuses`, WITHIN_MS, async () => {
      const settled = await stage.bodies(runId, 'attempt_settled');
      return settled.some(({ refusal }) => refusal?.code === 'locked');
    });

  test.each(locked)(
    'R-127 C11 %s, %s: it wakes and publishes nothing, then the next attempt does',
    async (_tool, _how, runId) => {
      await expectCompleted(runId, 'told');
      expect(said(publicationsOf(runId))).toEqual(['first: ENOENT', 'later: done']);
      expectPublished(runId);
    },
  );

  test.each(unlocked)(
    'R-127 C11 %s, %s: the next attempt has published, then it wakes and publishes nothing',
    async (_tool, _how, runId) => {
      await expectCompleted(runId, 'told');
      const publications = publicationsOf(runId);
      expect(said(publications)).toEqual(['later: done', 'first: ENOENT']);
      expect(new Set(publications.map(({ pid }) => pid)).size).toBe(2);
      expectPublished(runId);
    },
  );
});
