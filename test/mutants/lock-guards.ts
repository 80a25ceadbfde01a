// What a file tool stands on: the lock at its target, and the ground below its root.

import type { Guard } from './mutant.ts';

export const lockGuards: readonly Guard[] = [
  {
    guard: 'one writer at a target',
    file: 'activities/tools/files/lock.ts',
    test: 'test/activities/files/lock.test.ts',
    patches: [
      {
        name: 'lock-not-asked',
        from: "if (!files.tryLock(lock)) return 'taken';",
        to: 'files.tryLock(lock);',
        red: 'C10 twenty at once in one process are let in one by one, and all of them',
      },
      {
        name: 'lock-without-name',
        from: 'keeps = named.dev === opened.dev && named.ino === opened.ino;',
        to: 'keeps = named.dev === opened.dev;',
        red: 'C10 a lock on a file that is another one under its name does not count',
      },
    ],
  },
  {
    guard: 'ground below a root',
    file: 'activities/tools/files/footing.ts',
    test: 'test/activities/files/footing.test.ts',
    patches: [
      {
        name: 'unknown-ground-is-local',
        from: 'groundTable.get(type) ?? network(unknown',
        to: 'groundTable.get(type) ?? untried(unknown',
        red: 'C15 a root on a file system of the number 0x1234 is refused at the start',
      },
      {
        name: 'no-lock-no-word',
        from: "missing !== null && tool === 'replace' && withoutLock !== true",
        to: "missing !== null && tool === 'replace' && withoutLock === undefined && false",
        red: 'C10 without the addon a replacement wants a word of its own, a creation none',
      },
      {
        name: 'worse-mount-passes',
        from: 'grounds.indexOf(ground.kind) <= grounds.indexOf(footing.ground.kind)',
        to: 'grounds.indexOf(ground.kind) <= grounds.length',
        red: 'C15 a worse ground below the root is found where the file is',
      },
    ],
  },
  {
    guard: 'what an exchange displaced',
    file: 'activities/tools/files/publish.ts',
    test: 'test/activities/files/lock-range.test.ts',
    patches: [
      {
        name: 'displaced-not-looked-at',
        from: "if (displaced.kind !== 'file' || !isAlike(displaced, old))",
        to: "if (displaced.kind !== 'file')",
        red: 'R-100 C16 who saves as an editor does in the last instant is found by the exchange',
      },
    ],
  },
];
