// The system calls that Node does not have, from the optional package fs-native-extensions: kernel
// locks, the exchange of two names, extended attributes. Where it cannot be loaded the tools stand
// on a lower level, with the reason; nothing is done in its place.
//
// Found out about 1.5.1 on Linux, from its source and a trace of its calls:
// - The lock is F_OFD_SETLK on the whole file: it belongs to the open file, not to the process, so
//   two openings in one process shut each other out, closing another one releases nothing, and the
//   kernel releases it when the process ends. A second tryLock on the same descriptor is `true`: it
//   counts for nothing. It wants a descriptor opened for writing; on a read-only one it says EBADF.
// - Attributes go by descriptor, a read-only one, too (fgetxattr, fsetxattr, flistxattr). They
//   reach `system.posix_acl_access`, `security.capability` and, as root, `trusted.*`. What is not
//   there is `null`; removing it is ENODATA. On ramfs, which has none, the list is empty and the
//   rest ENOTSUP.
// - Its list may end in rubbish: it asks for the size first, and an overlay then leaves out names
//   of its own. A name that the system does not know as one is dropped here.
// - An ACL is changed by a later fchmod (its mask is what the mode shows for the group), so it is
//   set last. A new file in a directory with a default ACL has an ACL of its own from the start:
//   `removeAttr` takes it away.
// - `swap` is renameat2(RENAME_EXCHANGE), by path, also below /proc/self/fd. Both names must exist.
//   The addon cuts a path at a NUL and at 4,096 bytes; such a path does not get there.
// - Prebuilt for glibc on x64 and arm64, and for macOS, where the lock is flock; not for musl.

import { createRequire } from 'node:module';

export interface Native {
  /** False while another opening of the file has the lock; never waits. */
  tryLock(fd: number): boolean;
  unlock(fd: number): void;
  /** The two names change places at once; both must exist. */
  swap(one: string, other: string): Promise<void>;
  listAttrs(fd: number): Promise<string[]>;
  /** Null where the file has no such attribute. */
  getAttr(fd: number, name: string): Promise<Buffer | null>;
  setAttr(fd: number, name: string, value: Uint8Array): Promise<void>;
  removeAttr(fd: number, name: string): Promise<void>;
}

export type Addon =
  | { readonly calls: Native; readonly missing?: never }
  /** Why it could not be loaded, for the person who could install it. */
  | { readonly calls: null; readonly missing: string };

const PACKAGE = 'fs-native-extensions';
/** Without its last byte, which holds the end. */
const PATH_BYTES_MAX = 4_096;

let loaded: Addon | undefined;

/** Loaded by the first who asks, for the life of the process. */
export function native(): Addon {
  loaded ??= loadNative(() => createRequire(import.meta.url)(PACKAGE));
  return loaded;
}

export function loadNative(load: () => unknown): Addon {
  let calls: Native;
  try {
    calls = load() as Native;
  } catch (error) {
    const [reason] = String((error as Error | undefined)?.message ?? error).split('\n');
    return { calls: null, missing: `${PACKAGE} cannot be loaded: ${reason}` };
  }
  const lacking = NAMES.filter((name) => typeof calls?.[name] !== 'function');
  if (lacking.length > 0)
    return { calls: null, missing: `${PACKAGE} is another version: no ${lacking.join(', ')}` };
  const own: Pick<Native, 'swap' | 'listAttrs'> = {
    swap: (one, other) => calls.swap(whole(one), whole(other)),
    listAttrs: (fd) => attributesOf(calls, fd),
  };
  return { calls: { ...pick(calls), ...own } };
}

const NAMES = [
  'tryLock',
  'unlock',
  'swap',
  'listAttrs',
  'getAttr',
  'setAttr',
  'removeAttr',
] as const satisfies (keyof Native)[];

function pick({ tryLock, unlock, getAttr, setAttr, removeAttr }: Native) {
  return { tryLock, unlock, getAttr, setAttr, removeAttr };
}

async function attributesOf(calls: Native, fd: number): Promise<string[]> {
  const found: string[] = [];
  for (const name of new Set(await calls.listAttrs(fd)))
    if (await isAttribute(calls, fd, name)) found.push(name);
  return found;
}

/** What the system says of a text that is no name: empty, too long, or of no kind it knows. */
const noNames: ReadonlySet<unknown> = new Set(['ERANGE', 'EINVAL', 'ENOTSUP']);

/** One that may not be read is one; whoever reads it hears that. */
async function isAttribute(calls: Native, fd: number, name: string): Promise<boolean> {
  try {
    return (await calls.getAttr(fd, name)) !== null;
  } catch (error) {
    return !noNames.has((error as NodeJS.ErrnoException).code);
  }
}

/** A path that the addon would cut names another file. */
function whole(path: string): string {
  if (!path.includes('\0') && Buffer.byteLength(path) <= PATH_BYTES_MAX) return path;
  throw Object.assign(new Error('the path is too long, or has a NUL'), { code: 'ENAMETOOLONG' });
}
