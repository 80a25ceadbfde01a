// The calls by which a draft becomes the file, written down by whoever makes them, and standing
// still before or after one where a test has armed that.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { errnoOf } from '../../activities/tools/files/errno.ts';
import { isOwnName, parseDraftName } from '../../activities/tools/files/names.ts';
import type { FileSystem } from '../../activities/tools/files/system.ts';
import type { StandPoint, Standstill } from './stand-points.ts';

/** One call that was made, and came back. */
export interface Publication {
  readonly pid: number;
  readonly call: 'link' | 'swap' | 'rename';
  /** The file's name. */
  readonly target: string;
  /** Number of the attempt, by the draft's name. */
  readonly attempt: number;
  /** Of the draft before the call; null: there was none. */
  readonly inode: string | null;
  /** What the system said; `done` where nothing. */
  readonly said: string;
}

/** In the order in which they came back. */
export function publicationsIn(logPath: string): readonly Publication[] {
  if (!existsSync(logPath)) return [];
  const lines = readFileSync(logPath, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Publication);
}

export interface StandingOptions {
  readonly standstill: Standstill;
  readonly logPath: string;
}

export function standingFiles(files: FileSystem, options: StandingOptions): FileSystem {
  const through = (call: Publication['call']) => publishing(files, call, options);
  return { ...files, link: through('link'), swap: through('swap'), rename: through('rename') };
}

function publishing(
  files: FileSystem,
  call: Publication['call'],
  { standstill: { take, stand }, logPath }: StandingOptions,
): FileSystem['rename'] {
  const at = async (point: StandPoint, about: string, step: () => Promise<void>) => {
    const armed = take([{ point, about }]);
    await (armed === null ? step() : stand(armed, step));
  };
  return async (from, to) => {
    const draft = parseDraftName(basename(from));
    const target = basename(to);
    // A withdrawal gives the draft another name of ours.
    if (draft?.state !== 'draft' || isOwnName(target)) return files[call](from, to);
    const written = async () => {
      const inode = await files.statusAt(from).then(
        ({ ino }) => String(ino),
        () => null,
      );
      const say = (said: string) => {
        const { pid } = process;
        const publication: Publication = {
          ...{ pid, call, target, attempt: draft.number, inode, said },
        };
        appendFileSync(logPath, `${JSON.stringify(publication)}\n`);
      };
      await files[call](from, to).catch((error: unknown) => {
        say(errnoOf(error) ?? String(error));
        throw error;
      });
      say('done');
    };
    await at('before_publish', target, written);
    await at('after_publish', target, async () => undefined);
  };
}
