// The words of a refusal: which path, what it is, what to do. A model reads them, and a person.

import type { Digest } from '../../../core/digest.ts';
import type { Unwritten } from './errno.ts';

export function refusal(code: string, path: string, words: string): Unwritten {
  return { kind: 'refused', code, message: `${JSON.stringify(path)} ${words}` };
}

/** Never tried again as it is: what was decided on the old content has to be decided anew. */
export function conflict(path: string, expected: Digest, found: Digest | null): Unwritten {
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
