// Programs that tests start again and again, as JavaScript: a worker then starts in a third of the
// time that the TypeScript loader needs. Only our own files are built in; packages stay outside.
//
// Owns: `<cache>/programs/<digest of the project's path>`.
// INV-1 A program is built once per process, from the sources as they are then.
// INV-2 Files reach their names by rename, so racing processes start whole programs.

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { cacheDirOf } from '../../workers/cache-dir.ts';
import { projectRoot } from './project-files.ts';

const built = new Map<string, Promise<string>>();

/** `script` from the root of the project, e.g. `receiver/main.ts`; returns a path for `node`. */
export function builtProgram(script: string): Promise<string> {
  const known = built.get(script);
  if (known !== undefined) return known;
  const program = make(script);
  built.set(script, program);
  return program;
}

async function make(script: string): Promise<string> {
  const place = ownDirectory();
  const path = join(place, script.replaceAll('/', '-').replace(/\.ts$/, '.mjs'));
  const draft = `${path}.${randomUUID()}.part`;
  await build({
    entryPoints: [script],
    absWorkingDir: projectRoot,
    outfile: draft,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
  });
  renameSync(draft, path);
  return path;
}

function ownDirectory(): string {
  const root = createHash('sha256').update(projectRoot).digest('hex').slice(0, 16);
  const place = join(cacheDirOf(process.env), 'programs', root);
  mkdirSync(place, { recursive: true });
  // Packages are looked up from where a program stands.
  const packages = join(place, 'node_modules');
  try {
    symlinkSync(join(projectRoot, 'node_modules'), packages);
  } catch (error) {
    // Made before, for this very project.
    if (!existsSync(packages)) throw error;
  }
  return place;
}
