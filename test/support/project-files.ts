// The files that git tracks or would add. Without git (an unpacked archive) the tree is walked and
// the folders and endings of .gitignore are left out, so that the checks run there as well.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ProjectFile } from './tidy-rules.ts';

export const projectRoot = resolve(import.meta.dirname, '../..');

/** Text files only; a file with a NUL byte is not text. */
export function projectFiles(root: string = projectRoot): ProjectFile[] {
  return (trackedPaths(root) ?? walkedPaths(root))
    .filter((path) => existsSync(join(root, path)) && statSync(join(root, path)).isFile())
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\u0000'));
}

/** Null where git is missing or this is no repository. */
function trackedPaths(root: string): string[] | null {
  if (!existsSync(join(root, '.git'))) return null;
  // safe.directory: the tests also run as a user who does not own the checkout.
  const args = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others'];
  try {
    const out = execFileSync('git', [...args, '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return [...new Set(out.split('\u0000').filter((path) => path !== ''))];
  } catch {
    // No git on this machine: the walk below finds the same files in a clean checkout.
    return null;
  }
}

export function walkedPaths(root: string): string[] {
  const ignored = ignorePatterns(root);
  const under = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.name === '.git' || ignored(entry.name, entry.isDirectory())) return [];
      return entry.isDirectory() ? under(path) : [path];
    });
  return under('');
}

/** Knows `name`, `name/` and `*.ending`; anything else is refused rather than misread. */
function ignorePatterns(root: string): (name: string, folder: boolean) => boolean {
  const file = join(root, '.gitignore');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const patterns = lines.map((line) => line.trim()).filter((line) => !/^(#|$)/.test(line));
  const unknown = patterns.find((pattern) => !/^(\*\.)?[\w.-]+\/?$/.test(pattern));
  if (unknown !== undefined)
    throw new Error(`.gitignore has "${unknown}"; teach test/support/project-files.ts to read it`);
  return (name, folder) =>
    patterns.some((pattern) => {
      if (pattern.endsWith('/')) return folder && pattern === `${name}/`;
      return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern;
    });
}
