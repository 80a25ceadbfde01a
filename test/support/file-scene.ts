// A prepared attempt on one file, made by hand, for inquiries to be made about it.

import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FenceAsk, Inquiry, OpenAttempt } from '../../activities/tool.ts';
import { fenceFiles, inquireFile } from '../../activities/tools/files/inquire-file.ts';
import { type FileMarks, marksOf } from '../../activities/tools/files/marks.ts';
import { draftName } from '../../activities/tools/files/names.ts';
import { type FileSystem, nodeFiles } from '../../activities/tools/files/system.ts';
import type { Publish } from '../../activities/tools/files/verdict.ts';
import { digestOfBytes } from '../../core/digest.ts';
import { tempDir } from './temp-dir.ts';

export const OLD = 'old\n';
export const NEW = 'new\n';
export const THIRD = 'third\n';
const digest = (text: string) => digestOfBytes(Buffer.from(text));
/** The kernel's clock for change times ticks every few ms. */
const TICK_MS = 30;
/** What a power cut would do is no matter here, and a disk takes its time. */
export const quick: FileSystem = {
  ...nodeFiles,
  syncFile: async () => undefined,
  syncDirectory: async () => undefined,
};

export interface Scene {
  readonly root: string;
  readonly target: string;
  readonly draft: string;
  readonly marks: FileMarks;
  ask(over?: Partial<OpenAttempt>, files?: FileSystem): ReturnType<typeof inquireFile>;
  fence(): Promise<void>;
  /** Names of our own with their contents. */
  ours(): Record<string, string>;
}

export const receiverKey = 'shop/default/invoice-42.t1.c1';

/** A prepared attempt on `a/f.txt`, by hand. */
export async function prepared(publish: Publish): Promise<Scene> {
  const root = tempDir();
  mkdirSync(join(root, 'a'));
  const target = join(root, 'a/f.txt');
  if (publish !== 'link') writeFileSync(target, OLD);
  const name = draftName(receiverKey, 1, '00c0ffee');
  const draft = join(root, 'a', name);
  writeFileSync(draft, NEW);
  const marks = marksOf(statSync(draft, { bigint: true }), {
    ...{ draft: `a/${name}`, target: 'a/f.txt', publish },
    ...{ old: publish === 'link' ? 'absent' : digest(OLD), new: digest(NEW) },
  });
  const attempt = (over: Partial<OpenAttempt> = {}): OpenAttempt => ({
    ...{ attemptId: 'a1', number: 1, sendToken: { epoch: 1, number: 1 }, enteredAt: 0 },
    prepared: marks,
    ...over,
  });
  const below = (files: FileSystem) => ({ files, root, symlinks: 'follow' }) as const;
  return {
    ...{ root, target, draft, marks },
    ask: (over, files = quick) => {
      const inquiry = { input: { path: 'a/f.txt' }, receiverKey, open: [attempt(over)] };
      return inquireFile(below(files), inquiry as unknown as Inquiry);
    },
    fence: () => fenceFiles(below(nodeFiles), { open: [attempt()] } as unknown as FenceAsk),
    ours: () =>
      Object.fromEntries(
        readdirSync(join(root, 'a'))
          .filter((each) => each.startsWith('.holdfast-') && !each.endsWith('.lock'))
          .map((each) => [each.split('.').at(-1), readFileSync(join(root, 'a', each), 'utf8')]),
      ),
  };
}

export async function publish({ draft, target, marks }: Scene): Promise<void> {
  if (marks.publish === 'link') await pause(TICK_MS);
  if (marks.publish === 'link') linkSync(draft, target);
  else if (marks.publish === 'rename') renameSync(draft, target);
  else await nodeFiles.swap(draft, target);
}

/** As an editor does it: another file takes the name. */
export function replaceBy(content: string, path: string): void {
  writeFileSync(`${path}~`, content);
  renameSync(`${path}~`, path);
}
