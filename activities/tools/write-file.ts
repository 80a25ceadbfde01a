// Creates one file below a directory, whole or not at all, and never over another one. Level L1: a
// look at the file tells whether it is there with this content, not who wrote it, and a file that
// is not there may still come. Not for directories on a network.

import { randomUUID } from 'node:crypto';
import { link, open, readFile, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { digestOfBytes } from '../../core/digest.ts';
import { messageOf } from '../failures.ts';
import { type Attempt, defineTool, NotSentError, type Settlement } from '../tool.ts';
import { codeOf } from './read-file.ts';
import { rootedPath } from './rooted-path.ts';

export interface WriteFileOptions {
  /** Nothing outside of it is written. */
  readonly root: string;
}

const inputSchema = z.strictObject({ path: z.string().min(1), content: z.string() });
type Written = { path: string; bytes: number; digest: string };

export function writeFileTool({ root }: WriteFileOptions) {
  return defineTool({
    name: 'write_file',
    version: '1',
    description: 'Creates a UTF-8 text file; refuses where one exists.',
    input: inputSchema,
    replay: 'never',
    implementation: 'write-file/1',
    receiver: { inquiry: { consistency: 'strong', settleMs: 0 } },
    execute: (input, attempt) => create(root, input, attempt),
    async inquire({ input }) {
      const { path, content } = inputSchema.parse(input);
      const found = await readFile(await rootedPath(root, path)).catch(nullIfMissing);
      if (found === null) return { verdict: 'no_record', detail: 'no such file at the moment' };
      const wanted = digestOfBytes(Buffer.from(content));
      if (digestOfBytes(found) !== wanted)
        return { verdict: 'conflict', detail: 'the file has another content' };
      // The effect is there; the result of the attempt that made it is not known.
      return { verdict: 'executed', objectVersion: wanted };
    },
  });
}

/** Before the link nothing is visible under the name; from the link on a throw is ambiguous. */
async function create(
  root: string,
  { path, content }: z.infer<typeof inputSchema>,
  attempt: Attempt,
): Promise<Settlement<Written>> {
  const bytes = Buffer.from(content);
  let target: string;
  let draft: string;
  try {
    target = await rootedPath(root, path);
    draft = join(dirname(target), `.${randomUUID()}.part`);
    await writeDraft(draft, bytes);
  } catch (error) {
    return { kind: 'not_taken', code: codeOf(error), message: messageOf(error) };
  }
  try {
    attempt.beforeSend();
    await link(draft, target);
    await syncDirectory(dirname(target));
  } catch (error) {
    if (error instanceof NotSentError) throw error;
    if (codeOf(error) !== 'EEXIST') throw error;
    return { kind: 'refused', code: 'EEXIST', message: `${path} exists; it was left as it is` };
  } finally {
    await unlink(draft).catch(nullIfMissing);
  }
  const digest = digestOfBytes(bytes);
  const result = { path, bytes: bytes.length, digest };
  return { kind: 'executed', result, externalId: path, objectVersion: digest };
}

async function writeDraft(draft: string, bytes: Uint8Array): Promise<void> {
  const file = await open(draft, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A new name survives a power cut only once its directory is on the disk. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
