// The new content in a file beside the target, complete and on the disk before anything is
// published, with the owner, permissions and attributes of the file that it replaces.
//
// INV-1 What is handed over was read back and has the digest of the content.
// INV-2 Where it cannot be made just so, no draft is left.

import { randomBytes } from 'node:crypto';
import type { Digest } from '../../../core/digest.ts';
import { type Unwritten, unwrittenBy } from './errno.ts';
import { keep } from './kept.ts';
import { draftName, draftPrefix, parseDraftName } from './names.ts';
import type { Place } from './place.ts';
import type { FileStatus, FileSystem, OpenFile } from './system.ts';
import type { Standing } from './target.ts';
import { contentDigest } from './traces.ts';

export interface Draft {
  readonly kind: 'draft';
  readonly name: string;
  /** As it is to be published: nothing is done to it afterwards. */
  readonly status: FileStatus;
}

export interface DraftAsk {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
  readonly receiverKey: string;
  readonly number: number;
  /** What it is to be like; of a new file, its permissions. */
  readonly like: Standing | number;
}

/** Never throws: whatever the system says, nothing was published. */
export async function writeDraft(
  files: FileSystem,
  place: Place,
  ask: DraftAsk,
): Promise<Draft | Unwritten> {
  const name = draftName(ask.receiverKey, ask.number, randomBytes(4).toString('hex'));
  const at = place.directory.at(name);
  const unwritten = (error: unknown) => unwrittenBy(error, place.path);
  const file = await files.createNew(at).catch(unwritten);
  if ('kind' in file) return file;
  const filled = await fill(files, file, place.path, ask).catch(unwritten);
  const closed = await files.close(file).catch(unwritten);
  if ('kind' in filled || closed !== undefined) await remove(files, at);
  if ('kind' in filled) return filled;
  return closed ?? { kind: 'draft', name, status: filled };
}

async function fill(
  files: FileSystem,
  file: OpenFile,
  path: string,
  { bytes, digest, like }: DraftAsk,
): Promise<FileStatus | Unwritten> {
  for (let at = 0; at < bytes.byteLength; ) {
    const written = await files.write(file, bytes.subarray(at), at);
    if (written === 0) return differs(path, `no more than ${at} bytes of it could be written`);
    at += written;
  }
  const { size } = await files.status(file);
  if (size !== BigInt(bytes.byteLength))
    return differs(path, `${size} of ${bytes.byteLength} bytes of it are on the disk`);
  if ((await contentDigest(files, file)) !== digest)
    return differs(path, 'its draft reads otherwise than it was written');
  const lost = await keep(files, file, path, like);
  if (lost !== null) return lost;
  await files.syncFile(file);
  return files.status(file);
}

function differs(path: string, words: string): Unwritten {
  const message = `${JSON.stringify(path)} was left as it is: ${words}; look after the disk`;
  return { kind: 'not_taken', code: 'draft_incomplete', message };
}

/** What inquiries left as evidence of this action's earlier attempts, all of them ended by now. */
export async function removeEvidence(
  files: FileSystem,
  { directory }: Place,
  { receiverKey, number }: Pick<DraftAsk, 'receiverKey' | 'number'>,
): Promise<void> {
  const names = await files.namesIn(directory.at('.'));
  for (const name of names.filter((each) => each.startsWith(draftPrefix(receiverKey)))) {
    const draft = parseDraftName(name);
    if (draft?.state === 'withdrawn' && draft.number < number)
      await remove(files, directory.at(name));
  }
}

/** A file of ours that cannot be removed is a file too many, and no other outcome. */
export async function remove(files: FileSystem, path: string): Promise<void> {
  await files.unlink(path).catch(() => undefined);
}
