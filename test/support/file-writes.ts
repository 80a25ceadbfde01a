// One write by a file tool as a test asks for it: a root, a path, a content, what stands between
// the tool and the system.

import { readdirSync, readFileSync } from 'node:fs';
import type { Attempt } from '../../activities/tool.ts';
import { createFileTool } from '../../activities/tools/files/create-file.ts';
import { replaceFileTool } from '../../activities/tools/files/replace-file.ts';
import { type FileSystem, nodeFiles } from '../../activities/tools/files/system.ts';
import type { FileToolOptions } from '../../activities/tools/files/writer.ts';
import { digestOfBytes } from '../../core/digest.ts';
import { looseAttempt } from './loose-attempt.ts';

export interface Write extends Omit<FileToolOptions, 'files'> {
  readonly path: string;
  readonly content: string;
  /** Calls that take the place of the system's. */
  readonly files?: Partial<FileSystem>;
  readonly attempt?: Partial<Attempt>;
}

export function created({ path, content, files, attempt, ...options }: Write) {
  const tool = createFileTool({ ...options, files: { ...nodeFiles, ...files } });
  return tool.execute({ path, content }, looseAttempt(attempt));
}

/** `expect`: by digest, or by the text that was read. */
export function replaced({
  path,
  content,
  files,
  attempt,
  was,
  ...options
}: Write & { was: string }) {
  const tool = replaceFileTool({ ...options, files: { ...nodeFiles, ...files } });
  return tool.execute({ path, content, expect: digestOfText(was) }, looseAttempt(attempt));
}

export function digestOfText(text: string) {
  return digestOfBytes(Buffer.from(text));
}

/** All names in the directory but those of locks, which stay. */
export function namesIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => !/^\.holdfast-[0-9a-f]{24}\.lock$/.test(name))
    .sort();
}

export function textOf(path: string): string {
  return readFileSync(path, 'utf8');
}

/** What the system says: `{ rename: says('EXDEV') }`. */
export function says(code: string): () => Promise<never> {
  return () => Promise.reject(Object.assign(new Error(`${code}: as a test has it`), { code }));
}

/** Every call that a tool makes, in order, with its paths; others can be added to the list. */
export function tracedFiles(over: Partial<FileSystem> = {}) {
  const calls: string[] = [];
  const base = { ...nodeFiles, ...over };
  const traced = Object.entries(base).map(([name, call]) => [
    name,
    (...args: unknown[]) => {
      const paths = args.filter((arg) => typeof arg === 'string');
      calls.push([name, ...paths].join(' '));
      return (call as (...args: unknown[]) => unknown)(...args);
    },
  ]);
  return { calls, files: Object.fromEntries(traced) as FileSystem };
}
