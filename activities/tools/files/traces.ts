// What stands at the names of one attempt: looked at, never followed, never opened where it is no
// regular file.

import { createHash } from 'node:crypto';
import type { Digest } from '../../../core/digest.ts';
import { type FileMarks, isOurs } from './marks.ts';
import type { Directory } from './place.ts';
import type { FileSystem, OpenFile } from './system.ts';
import type { AtDraft, AtTarget } from './verdict.ts';
import { statusOrNull, type Withdrawn } from './withdrawal.ts';

const CHUNK_BYTES = 1_048_576;

/** Where the target is ours it is on the disk as it is told: content and name survive a crash. */
export async function lookAtTarget(
  files: FileSystem,
  directory: Directory,
  name: string,
  marks: FileMarks,
): Promise<AtTarget> {
  const path = directory.at(name);
  const status = await statusOrNull(files, path);
  if (status === null) return { kind: 'absent' };
  if (!status.isFile()) return { kind: 'other' };
  return reading(files, path, async (file) => {
    const opened = await files.status(file);
    if (!opened.isFile()) return { kind: 'other' };
    const digest = await contentDigest(files, file);
    if (!isOurs(opened, marks)) return { kind: 'file', digest };
    await files.syncFile(file);
    await files.syncDirectory(directory.handle);
    return { kind: 'ours', digest };
  });
}

export async function lookAtDraft(
  files: FileSystem,
  directory: Directory,
  withdrawn: Withdrawn | null,
): Promise<AtDraft> {
  if (withdrawn === null) return { kind: 'gone' };
  const { name, ours, touched, status } = withdrawn;
  if (ours) return { kind: 'ours', touched };
  if (!status.isFile()) return { kind: 'file', digest: null, name };
  const digest = await reading(files, directory.at(name), (file) => contentDigest(files, file));
  return { kind: 'file', digest, name };
}

/** Over the bytes as they are: no line ending or mark of an encoding is anything else. */
export async function contentDigest(files: FileSystem, file: OpenFile): Promise<Digest> {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let at = 0; ; ) {
    const got = await files.read(file, chunk, at);
    if (got === 0) return `sha256:${hash.digest('hex')}`;
    hash.update(chunk.subarray(0, got));
    at += got;
  }
}

/** Never follows a link at its end. */
export async function reading<R>(
  files: FileSystem,
  path: string,
  look: (file: OpenFile) => Promise<R>,
): Promise<R> {
  const file = await files.openToRead(path);
  try {
    return await look(file);
  } finally {
    await files.close(file);
  }
}
