// A path as a tool is asked for it, before anything is looked up: what no file system is asked.

import { basename, isAbsolute, sep } from 'node:path';
import type { Unwritten } from './errno.ts';
import { isOwnName } from './names.ts';
import { refusal } from './refusals.ts';

export interface Wanted {
  readonly kind: 'wanted';
  readonly way: string;
  readonly name: string;
}

export function isInside(way: string): boolean {
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** A way with `..` is refused even where it ends inside: behind a link it would end elsewhere. */
export function wantedOf(path: string): Wanted | Unwritten {
  if (path.includes('\0') || !path.isWellFormed())
    return refusal('invalid_path', path, 'has a NUL or half a character; name it without');
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (isAbsolute(path) || parts.includes('..')) return outside(path);
  const name = parts.pop();
  if (name === undefined || !path.endsWith(name) || basename(name) !== name)
    return refusal('no_file_name', path, 'does not end in the name of a file; name one');
  if (isOwnName(name)) return reserved(path);
  return { kind: 'wanted', way: parts.join('/'), name };
}

export function outside(path: string): Unwritten {
  return refusal(
    'outside_root',
    path,
    'is not a file below the root of this tool; name one that is, from the root on',
  );
}

export function reserved(path: string): Unwritten {
  return refusal('reserved_name', path, 'is a name kept for locks and drafts; name another file');
}
