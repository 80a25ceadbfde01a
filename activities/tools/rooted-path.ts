// Paths below one directory: nothing outside of it, not through `..` and not through a link.

import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** The real path, whose last part need not exist. Throws naming the path that leaves the root. */
export async function rootedPath(root: string, path: string): Promise<string> {
  const realRoot = await realpath(root);
  const wanted = resolve(realRoot, path);
  if (!isInside(realRoot, wanted)) throw outside(root, path);
  const directory = await realpath(dirname(wanted));
  const found = join(directory, basename(wanted));
  if (!isInside(realRoot, found)) throw outside(root, path);
  return found;
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function outside(root: string, path: string): Error {
  return new Error(`"${path}" is not a file below ${root}; name one that is`);
}
