// What both writing tools are given, and what they make of it once, when the worker starts.

import { limits } from '../../../core/limits.ts';
import { type FileToolKind, type Footing, type FootingOptions, footingOf } from './footing.ts';
import type { FilesBelow } from './inquire-file.ts';
import type { SymlinkPolicy } from './place.ts';
import { type FileSystem, nodeFiles } from './system.ts';

export interface FileToolOptions extends FootingOptions {
  /** Default `follow`: a link leads to the real file, as long as that is inside the root. */
  readonly symlinks?: SymlinkPolicy;
  /** How long to ask for a lock that another writer has. */
  readonly lockWaitMs?: number;
  /** What a test stands between the tool and the system. */
  readonly files?: FileSystem;
}

export interface Writer extends FilesBelow {
  readonly footing: Footing;
  readonly lockWaitMs: number;
}

/** Throws what to do where the tool may not start there. */
export function writerOf(kind: FileToolKind, options: FileToolOptions): Writer {
  const { root, symlinks = 'follow', lockWaitMs = limits.fileLockWaitMs } = options;
  const files = options.files ?? nodeFiles;
  return { files, root, symlinks, lockWaitMs, footing: footingOf(files, kind, options) };
}
