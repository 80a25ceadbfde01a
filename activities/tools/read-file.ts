// Reads one text file below a directory. Has no effect, so it may be repeated.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import * as z from 'zod';
import { digestOfBytes } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { messageOf } from '../failures.ts';
import { defineTool } from '../tool.ts';
import { rootedPath } from './rooted-path.ts';

export interface ReadFileOptions {
  /** Nothing outside of it is read. */
  readonly root: string;
  readonly bytesMax?: number;
}

/** Lines, quotes and control characters come back as they stand: the text is not cut into lines. */
export function readFileTool({
  root,
  bytesMax = limits.ledgerPayloadBytesMax / 2,
}: ReadFileOptions) {
  return defineTool({
    name: 'read_file',
    version: '1',
    description: 'Reads a UTF-8 text file.',
    input: z.strictObject({ path: z.string().min(1) }),
    replay: 'safe',
    implementation: 'read-file/1',
    async execute({ path }, attempt) {
      attempt.beforeSend();
      try {
        const bytes = await readBytes(await rootedPath(root, path), bytesMax);
        const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
        return { kind: 'executed', result: { path, text, digest: digestOfBytes(bytes) } };
      } catch (error) {
        // Of a machine that is short of something; the attempt may be made again.
        if (passing.has(codeOf(error))) throw error;
        return { kind: 'refused', code: codeOf(error), message: messageOf(error) };
      }
    },
  });
}

const passing: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EIO', 'EAGAIN', 'EBUSY']);

async function readBytes(path: string, bytesMax: number): Promise<Uint8Array> {
  // Opening a pipe would wait for its writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const status = await file.stat();
    const { size } = status;
    if (!status.isFile()) throw new Error('it is no regular file');
    if (size > bytesMax) throw new Error(`it has ${size} bytes, more than ${bytesMax}`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : 'unreadable';
}
