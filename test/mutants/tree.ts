// A copy of the working tree, to be broken. Packages are not copied: the copy links to ours.
//
// INV-1 Nothing is written outside of the copy.

import { mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { projectFiles, projectRoot } from '../support/project-files.ts';

export interface Tree {
  readonly root: string;
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  /** Paths that were written since it was last asked. */
  written(): readonly string[];
}

/** In `directory`, which must not be there yet. */
export async function copiedTree(directory: string): Promise<Tree> {
  await mkdir(directory);
  // The test runner reports real paths.
  const root = await realpath(directory);
  const write = (path: string, text: string) => writeFile(join(root, path), text);
  for (const { path, text } of projectFiles()) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await write(path, text);
  }
  await symlink(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
  const paths = new Set<string>();
  return {
    root,
    read: (path) => readFile(join(root, path), 'utf8'),
    write(path, text) {
      paths.add(path);
      return write(path, text);
    },
    written() {
      const since = [...paths];
      paths.clear();
      return since;
    },
  };
}
