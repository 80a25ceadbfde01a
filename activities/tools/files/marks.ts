// What an attempt writes down in the ledger before it publishes: by which file, from where to where
// and how, so that an inquiry can shut it out and tell what became of it.

import * as z from 'zod';
import { digestSchema } from '../../../core/digest.ts';
import type { Marks } from '../../../core/fact-fields.ts';
import type { FileStatus } from './system.ts';

const wholeSchema = z.string().regex(/^-?\d{1,32}$/);

const fileMarksSchema = z.strictObject({
  /** Both from the root on, with `/`; side by side. The target is the real file, not a link. */
  draft: z.string().min(1),
  target: z.string().min(1),
  device: wholeSchema,
  inode: wholeSchema,
  /** Of its birth, in ns: an inode number is given again once its file is gone. */
  born: wholeSchema,
  /** Of the last change to it or its names, in ns. */
  changed: wholeSchema,
  publish: z.enum(['link', 'rename', 'swap']),
  /** What stood at the target, and what is to stand there. */
  old: z.union([digestSchema, z.literal('absent')]),
  new: digestSchema,
});
export type FileMarks = z.infer<typeof fileMarksSchema>;

export function marksOf(
  status: FileStatus,
  rest: Pick<FileMarks, 'draft' | 'target' | 'publish' | 'old' | 'new'>,
): FileMarks {
  return {
    ...rest,
    device: String(status.dev),
    inode: String(status.ino),
    born: String(status.birthtimeNs),
    changed: String(status.ctimeNs),
  };
}

/** Throws where another version of the tool wrote them. */
export function fileMarksOf(marks: Marks): FileMarks {
  const parsed = fileMarksSchema.safeParse(marks);
  if (parsed.success) return parsed.data;
  throw new Error(`marks of another kind of tool: ${z.prettifyError(parsed.error)}`);
}

/** Whether it is the file that the attempt prepared, whatever it contains now. */
export function isOurs(status: FileStatus, marks: FileMarks): boolean {
  return (
    String(status.dev) === marks.device &&
    String(status.ino) === marks.inode &&
    String(status.birthtimeNs) === marks.born
  );
}

export function isTouched(status: FileStatus, marks: FileMarks): boolean {
  return String(status.ctimeNs) !== marks.changed;
}
