// Reads one text file below a directory. Has no effect, so it may be repeated.

import * as z from 'zod';
import { digestOfBytes } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { defineTool } from '../tool.ts';
import { type Unwritten, unwrittenBy } from './files/errno.ts';
import { scopeOf } from './files/footing.ts';
import { atPlace, type Place, type SymlinkPolicy } from './files/place.ts';
import { refusal } from './files/refusals.ts';
import { type FileSystem, nodeFiles, type OpenFile } from './files/system.ts';
import { irregularity } from './files/target.ts';
import { reading } from './files/traces.ts';

export interface ReadFileOptions {
  /** Nothing outside of it is read. */
  readonly root: string;
  readonly bytesMax?: number;
  /** Default `follow`: a link leads to the real file, as long as that is inside the root. */
  readonly symlinks?: SymlinkPolicy;
  /** What a test stands between the tool and the system. */
  readonly files?: FileSystem;
}

/** Lines, quotes and control characters come back as they stand: the text is not cut into lines. */
export function readFileTool({
  root,
  bytesMax = limits.ledgerPayloadBytesMax / 2,
  symlinks = 'follow',
  files = nodeFiles,
}: ReadFileOptions) {
  return defineTool({
    name: 'read_file',
    version: '1',
    description: 'Reads a UTF-8 text file; `digest` is what replace_file expects.',
    input: z.strictObject({ path: z.string().min(1) }),
    replay: 'safe',
    implementation: 'read-file/1',
    // That of the tools that write there: what it finds is about the same objects.
    receiver: { scope: scopeOf(root) },
    async execute({ path }, attempt) {
      attempt.beforeSend();
      const read = await atPlace(files, { root, path, symlinks }, (place) =>
        readBytes(files, place, bytesMax).catch((error: unknown) => unwrittenBy(error, path)),
      );
      if (read.kind !== 'bytes') return read;
      const text = textOf(read.bytes);
      if (text === null) return refusal('not_utf8', path, 'is no UTF-8 text; it was not read');
      const digest = digestOfBytes(read.bytes);
      const result = { path, text, digest };
      // As the writing tools name it: one who finds another version than was judged says so.
      return { kind: 'executed', result, externalId: read.path, objectVersion: digest };
    },
  });
}

const CHUNK_BYTES = 65_536;

type Read =
  | { readonly kind: 'bytes'; readonly path: string; readonly bytes: Uint8Array }
  | Unwritten;

async function readBytes(
  files: FileSystem,
  { target, path }: Place,
  bytesMax: number,
): Promise<Read> {
  // Opening a device can do something, opening a pipe can wait.
  const irregular = irregularity(await files.statusAt(target), path);
  if (irregular !== null) return irregular;
  return reading(files, target, async (file) => {
    const status = await files.status(file);
    const became = irregularity(status, path);
    if (became !== null) return became;
    return wholeOf(files, file, { path, bytesMax });
  });
}

/** To its end, whatever its size says: some files grow, and some of the system's have none. */
async function wholeOf(
  files: FileSystem,
  file: OpenFile,
  { path, bytesMax }: { path: string; bytesMax: number },
): Promise<Read> {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at <= bytesMax; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const got = await files.read(file, chunk, at);
    if (got === 0) return { kind: 'bytes', path, bytes: Buffer.concat(chunks) };
    chunks.push(chunk.subarray(0, got));
    at += got;
  }
  return refusal('too_large', path, `has more than the ${bytesMax} bytes allowed`);
}

/** With the mark of its encoding, where it has one: what is written back has it, too. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
