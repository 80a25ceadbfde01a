// Looks whether the files that a run wrote are as it wrote them: by the ledger's paths alone, below
// the root alone. It only reads.

import { basename, dirname } from 'node:path/posix';
import type { RunState } from '../../../core/run-state.ts';
import {
  type FileFinding,
  type Found,
  fileFindings,
  writtenFiles,
} from '../../../core/written-files.ts';
import { errnoOf } from './errno.ts';
import { openDirectory } from './place.ts';
import { type FileSystem, nodeFiles } from './system.ts';
import { reading } from './target.ts';
import { contentDigest } from './traces.ts';
import { statusOrNull } from './withdrawal.ts';

export interface InspectFilesOptions {
  /** That of the tools. */
  readonly root: string;
  readonly files?: FileSystem;
}

/**
 * One finding for each action that wrote a file, in the order of their writing. Throws where the
 * root is not there: a disk that is not mounted has lost nothing.
 */
export async function inspectFiles(
  run: RunState,
  { root, files = nodeFiles }: InspectFilesOptions,
): Promise<FileFinding[]> {
  await files.realPath(root);
  const written = writtenFiles(run);
  const found = new Map<string, Found>();
  for (const { path } of written)
    if (!found.has(path)) found.set(path, await foundAt(files, root, path));
  return fileFindings(written, (path) => found.get(path) ?? 'unreadable');
}

/** A file that is read-only by now, or has another name, too, is read all the same. */
async function foundAt(files: FileSystem, root: string, path: string): Promise<Found> {
  try {
    const directory = await openDirectory(files, root, dirname(path));
    if (directory === 'outside') return 'unreadable';
    try {
      const target = directory.at(basename(path));
      const status = await statusOrNull(files, target);
      if (status === null) return 'absent';
      if (!status.isFile()) return 'no_file';
      return await reading(files, target, (file) => contentDigest(files, file));
    } finally {
      await files.close(directory.handle);
    }
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '') ? 'absent' : 'unreadable';
  }
}
