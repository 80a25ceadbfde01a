// The words of a refusal: which path, what it is, what to do. A model reads them, and a person.

import type { Digest } from '../../../core/digest.ts';
import type { Unwritten } from './errno.ts';

export function refusal(code: string, path: string, words: string): Unwritten {
  return { kind: 'refused', code, message: `${JSON.stringify(path)} ${words}` };
}

/** Never tried again as it is: what was decided on the old content has to be decided anew. */
export function conflict(path: string, expected: string, found: Digest | null): Unwritten {
  const now = found === null ? 'it cannot be read as a file now' : `now it has ${found}`;
  return refusal(
    'conflict',
    path,
    `is not what was read: expected ${expected}, ${now}; nothing was written. ` +
      'Read it again, merge, and replace it with the digest that reading gives.',
  );
}

/** An inquiry has shut this attempt out; it may already have been told that it did nothing. */
export function withdrawn(path: string): Unwritten {
  const message = `${JSON.stringify(path)}: its draft was withdrawn; nothing was published`;
  return { kind: 'not_taken', code: 'withdrawn', message };
}

export function exists(path: string): Unwritten {
  return refusal('EEXIST', path, 'exists; it was left as it is. Read it, then replace it');
}

export function notThere(path: string): Unwritten {
  return refusal('ENOENT', path, 'is not there; create it, or name a file that is');
}

/** No receipt is made of it: whoever wrote that, it was not this action. */
export function alreadySatisfied(path: string, digest: Digest): Unwritten {
  const words = `has this very content already (${digest}); nothing was written`;
  return refusal('already_satisfied', path, words);
}

/** Two files that read the same would be one to whoever looks. */
export function otherSpelling(path: string, { name, other }: { name: string; other: string }) {
  const words = `(${escaped(name)}) is spelled otherwise than the file that is there`;
  return refusal('other_spelling', path, `${words} (${escaped(other)}); name that one`);
}

/** What a reader can tell apart: `caf\u00e9` and `cafe\u0301`. */
function escaped(name: string): string {
  return name.replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The content is what was read, and something else was done to it: it may be tried again. */
export function touched(path: string): Unwritten {
  const words = 'was touched while it was about to be replaced; nothing was written';
  return { kind: 'not_taken', code: 'touched', message: `${JSON.stringify(path)} ${words}` };
}
