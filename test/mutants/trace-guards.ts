// What an inquiry makes of the traces of a file attempt: shut out first, told apart by the inode,
// nothing removed that a later answer needs, another's change never lost.

import type { Guard } from './mutant.ts';

export const traceGuards: readonly Guard[] = [
  {
    guard: 'withdrawn first',
    file: 'activities/tools/files/withdrawal.ts',
    test: 'test/activities/files/inquire-file.test.ts',
    patches: [
      {
        name: 'draft-not-withdrawn',
        from:
          'await renamed(files, directory, draft, nameFor(status, marks, draft));\n' +
          '      continue;',
        to: 'return seen({ name: draft, status }, marks, draft);',
        red: 'once it is answered, a writer that was frozen publishes nothing: by link',
      },
      {
        name: 'link-leaves-no-mark',
        file: 'activities/tools/files/marks.ts',
        from: 'return String(status.ctimeNs) !== marks.changed;',
        to: 'return false;',
        red: 'published, then removed, its draft still there (link)',
      },
      {
        name: 'any-file-is-ours',
        file: 'activities/tools/files/marks.ts',
        from:
          'String(status.dev) === marks.device &&\n    String(status.ino) === marks.inode &&\n' +
          '    String(status.birthtimeNs) === marks.born',
        to: 'String(status.dev) === marks.device',
        red: 'the same content by another hand, nothing published (rename)',
      },
    ],
  },
  {
    guard: 'evidence and changes of others',
    file: 'activities/tools/files/leftovers.ts',
    test: 'test/activities/files/inquire-file.test.ts',
    patches: [
      {
        name: 'evidence-removed',
        from: '(await isMeant(status, file))) await files.truncate(file, 0);',
        to: '(await isMeant(status, file))) await files.unlink(path);',
        red: 'not published (rename)',
      },
      {
        name: 'unprepared-draft-stays',
        from: 'if (locked) await quietly(',
        to: 'if (locked && false) await quietly(',
        red: 'what never prepared is not done; once asked about, its draft is gone',
      },
      {
        name: 'put-back-unseen',
        from: 'if (await isUnchanged(files, left, marks)) {',
        to: 'if (files !== null) {',
        red: 'somebody replaces the target while a change is put back: neither is lost',
      },
      {
        name: 'put-back-without-lock',
        file: 'activities/tools/files/inquire-file.ts',
        from: 'if (!locked && (await mayBePutBack(',
        to: 'if (locked === null && (await mayBePutBack(',
        red: "a displaced change waits for the lock, and is put back when it's free",
      },
    ],
  },
  {
    guard: 'durable before told',
    file: 'activities/tools/files/traces.ts',
    test: 'test/activities/files/told-durable.test.ts',
    patches: [
      {
        name: 'told-before-the-file-is-synced',
        from: 'await files.syncFile(file);',
        to: '',
        red: 'found published by link, file and directory are synced before it is told',
      },
      {
        name: 'told-before-the-directory-is-synced',
        from: 'await files.syncDirectory(directory.handle);',
        to: '',
        red: 'found published by rename, file and directory are synced before it is told',
      },
      {
        name: 'put-back-unsynced',
        file: 'activities/tools/files/leftovers.ts',
        from: 'await files.syncDirectory(directory.handle);',
        to: '',
        red: 'what is put back is on the disk before "not executed" is told',
      },
      {
        name: 'inode-used-again',
        file: 'activities/tools/files/marks.ts',
        from: 'String(status.birthtimeNs) === marks.born',
        to: 'marks.born !== null',
        red: 'a file with the inode number of ours, born at another time, is not ours',
      },
    ],
  },
];
