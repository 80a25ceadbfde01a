// Replaces one file below a root where it has the content that was read, whole or not at all. What
// makes sure of it is the content's digest, under a lock: no time and no size of a file does.

import * as z from 'zod';
import { defineTool } from '../../tool.ts';
import { fenceFiles, inquireFile } from './inquire-file.ts';
import { alreadySatisfied, conflict, notThere, otherSpelling } from './refusals.ts';
import { twinOf } from './target.ts';
import { type FileToolOptions, type Writer, writerOf } from './writer.ts';
import { type Judge, type Written, write } from './writing.ts';

export type ReplaceFileOptions = FileToolOptions;

const inputSchema = z.strictObject({
  path: z.string().min(1),
  content: z.string(),
  expect: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .describe('the digest that read_file gave for the content that is to be replaced'),
});
type Input = z.infer<typeof inputSchema>;

/** Throws what to do where the root is on ground that it does not work on. */
export function replaceFileTool(options: ReplaceFileOptions) {
  const writer = writerOf('replace', options);
  const { footing } = writer;
  return defineTool<Input, Written>({
    name: 'replace_file',
    version: '1',
    description:
      'Replaces the whole content of a UTF-8 text file. `expect` is the digest that read_file ' +
      'gave; where the file has another by now it is left as it is (conflict): read it again, ' +
      `merge, replace it with the new digest. Paths are relative to the root (${footing.words}).`,
    input: inputSchema,
    replay: 'never',
    implementation: 'replace-file/1',
    receiver: footing.contract,
    execute: (input, attempt) => write(writer, input, attempt, judgeFor(writer, input)),
    ...(footing.inquires ? { inquire: (inquiry) => inquireFile(writer, inquiry) } : {}),
    ...(footing.fences ? { fence: (ask) => fenceFiles(writer, ask) } : {}),
  });
}

function judgeFor({ files }: Writer, { expect }: Input): Judge {
  return async (place, target, { digest }) => {
    const { path, name } = place;
    if (target.kind === 'absent') {
      const other = await twinOf(files, place);
      return other === null ? notThere(path) : otherSpelling(path, { name, other });
    }
    if (target.kind !== 'file') return target;
    if (target.digest === digest) return alreadySatisfied(path, digest);
    if (target.digest !== expect) return conflict(path, expect, target.digest);
    return { kind: 'plan', like: target };
  };
}
