// What a bystander may do to a file at any time: a shell, an editor, a cleaner. Each version
// that it writes is another one.

import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

export type Move = readonly [name: string, move: () => void];

/** A move that is not possible now may throw. */
export function bystanderMoves(target: string, pick: <T>(from: readonly T[]) => T): Move[] {
  const directory = dirname(target);
  let versions = 0;
  const next = () => `theirs ${++versions}`;
  const own = (kind: string) => {
    const name = readdirSync(directory).find((each) => each.endsWith(kind));
    return name === undefined ? null : join(directory, name);
  };
  const remove = (path: string | null) =>
    path !== null && rmSync(path, { force: true, recursive: true });
  const save = () => {
    writeFileSync(`${target}~`, next());
    renameSync(`${target}~`, target);
  };
  const usual: Move[] = [
    ['saves', save],
    ['edits', () => existsSync(target) && writeFileSync(target, next())],
  ];
  return [
    ...[...usual, ...usual, ...usual, ...usual],
    ['removes', () => remove(target)],
    ['chmods', () => chmodSync(target, pick([0o600, 0o644, 0o755]))],
    ['moves it away', () => renameSync(target, join(directory, next()))],
    ['links it', () => linkSync(target, join(directory, next()))],
    ['links the draft', () => linkSync(own('.draft') ?? '', join(directory, next()))],
    ['removes the draft', () => remove(own('.draft'))],
    ['removes what was withdrawn', () => remove(own('.withdrawn'))],
    ['removes the lock', () => remove(own('.lock'))],
    [
      'makes it a directory',
      () => {
        remove(target);
        mkdirSync(target);
        writeFileSync(join(target, 'x'), next());
      },
    ],
    [
      'makes it a link',
      () => {
        remove(target);
        const name = next();
        writeFileSync(join(directory, name), name);
        symlinkSync(name, target);
      },
    ],
  ];
}
