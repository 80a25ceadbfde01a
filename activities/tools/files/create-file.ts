// Creates one file below a root, whole or not at all, and never over another one.

import * as z from 'zod';
import { defineTool } from '../../tool.ts';
import { fenceFiles, inquireFile } from './inquire-file.ts';
import { alreadySatisfied, exists, otherSpelling } from './refusals.ts';
import { twinOf } from './target.ts';
import { type FileToolOptions, type Writer, writerOf } from './writer.ts';
import { type Judge, type Written, write } from './writing.ts';

export interface CreateFileOptions extends Omit<FileToolOptions, 'withoutLock'> {
  /** Permissions of the new file, whatever the umask says; default 0o644. */
  readonly fileMode?: number;
}

const inputSchema = z.strictObject({ path: z.string().min(1), content: z.string() });
type Input = z.infer<typeof inputSchema>;

/** Throws what to do where the root is on ground that it does not work on. */
export function createFileTool({ fileMode = 0o644, ...options }: CreateFileOptions) {
  const writer = writerOf('create', options);
  const { footing } = writer;
  const judge = judgeFor(writer, fileMode);
  return defineTool<Input, Written>({
    name: 'create_file',
    version: '1',
    description:
      'Creates a UTF-8 text file; refuses where one exists. Paths are relative to the root ' +
      `(${footing.words}).`,
    input: inputSchema,
    replay: 'never',
    implementation: 'create-file/1',
    receiver: footing.contract,
    execute: (input, attempt) => write(writer, input, attempt, judge),
    ...(footing.inquires ? { inquire: (inquiry) => inquireFile(writer, inquiry) } : {}),
    ...(footing.fences ? { fence: (ask) => fenceFiles(writer, ask) } : {}),
  });
}

/** Nothing may stand there, and nothing that reads the same. */
function judgeFor({ files }: Writer, fileMode: number): Judge {
  return async (place, target, { digest }) => {
    const { path, name } = place;
    if (target.kind === 'file' && target.digest === digest) return alreadySatisfied(path, digest);
    if (target.kind !== 'absent') return exists(path);
    const other = await twinOf(files, place);
    if (other !== null) return otherSpelling(path, { name, other });
    return { kind: 'plan', like: fileMode };
  };
}
