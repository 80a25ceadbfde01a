// What a file that takes the place of another keeps of it: owner, group, permissions, ACL and other
// attributes; or a refusal. Each is looked at again afterwards: a system may drop one in silence.

import { errnoOf, type Unwritten } from './errno.ts';
import { refusal } from './refusals.ts';
import type { FileSystem, OpenFile } from './system.ts';
import { attributesOf, differing, type Standing } from './target.ts';

const permissionBits = 0o7777n;
/** The system says of these that they may not be had, not that something is wrong. */
const denials: ReadonlySet<string | null> = new Set(['EPERM', 'EACCES', 'EINVAL', 'ENOTSUP']);
/** Of the old content: they would say of the new one that it was tampered with. */
const ofContent: ReadonlySet<string> = new Set(['security.ima', 'security.evm']);

/** Null: all is kept. `like`: a file, or the permissions of a new one. */
export async function keep(
  files: FileSystem,
  file: OpenFile,
  path: string,
  like: Standing | number,
): Promise<Unwritten | null> {
  if (typeof like === 'number') return keepMode(files, file, path, BigInt(like));
  const { uid, gid, mode } = like.status;
  // In this order: a new owner drops bits of the mode, and a new mode changes the ACL.
  return (
    (await keepOwner(files, file, path, { uid, gid })) ??
    (await keepMode(files, file, path, mode)) ??
    (await keepAttributes(files, file, path, like.attributes)) ??
    (await modeLost(files, file, path, mode))
  );
}

async function keepOwner(
  files: FileSystem,
  file: OpenFile,
  path: string,
  { uid, gid }: { uid: bigint; gid: bigint },
): Promise<Unwritten | null> {
  const isKept = async () => {
    const status = await files.status(file);
    return status.uid === uid && status.gid === gid;
  };
  if (await isKept()) return null;
  await files.changeOwner(file, Number(uid), Number(gid)).catch(denied);
  if (await isKept()) return null;
  const words = `belongs to user ${uid}, group ${gid}, which this process cannot keep`;
  return refusal('owner_not_kept', path, `${words}; it was left as it is`);
}

async function keepMode(
  files: FileSystem,
  file: OpenFile,
  path: string,
  mode: bigint,
): Promise<Unwritten | null> {
  await files.changeMode(file, Number(mode & permissionBits)).catch(denied);
  return modeLost(files, file, path, mode);
}

async function modeLost(
  files: FileSystem,
  file: OpenFile,
  path: string,
  mode: bigint,
): Promise<Unwritten | null> {
  const status = await files.status(file);
  if ((status.mode & permissionBits) === (mode & permissionBits)) return null;
  const octal = (mode & permissionBits).toString(8).padStart(4, '0');
  const words = `is to have the permissions ${octal}, which this process cannot give`;
  return refusal('mode_not_kept', path, `${words}; nothing was written`);
}

async function keepAttributes(
  files: FileSystem,
  file: OpenFile,
  path: string,
  wanted: Standing['attributes'],
): Promise<Unwritten | null> {
  if (wanted === null) return null;
  const had = (await attributesOf(files, file)) ?? new Map<string, Uint8Array>();
  for (const [name, value] of wanted) {
    const isSame = had.has(name) && Buffer.compare(had.get(name) as Uint8Array, value) === 0;
    if (!isSame && !ofContent.has(name)) await files.setAttribute(file, name, value).catch(denied);
  }
  for (const name of had.keys())
    if (!wanted.has(name)) await files.removeAttribute(file, name).catch(denied);
  const now = (await attributesOf(files, file)) ?? new Map<string, Uint8Array>();
  const lost = differing(wanted, now);
  if (lost === null) return null;
  const words = `has the attribute ${lost} (an ACL, or another), which cannot be kept`;
  return refusal('attributes_not_kept', path, `${words}; it was left as it is`);
}

/** Whether it was kept is looked at afterwards. */
function denied(error: unknown): void {
  if (!denials.has(errnoOf(error))) throw error;
}
