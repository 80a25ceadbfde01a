// Every system call that the file tools make, one function each, so that a test can stand between
// any two of them: `{ ...nodeFiles, rename: … }`. Each does one thing and throws what the system
// says. No other module of this folder touches node:fs or the addon.

import { type BigIntStats, type BigIntStatsFs, constants, statfsSync, statSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { type Native, native } from './native.ts';

export type OpenFile = fs.FileHandle;
export type FileStatus = BigIntStats;
export type FileSystemStatus = BigIntStatsFs;

export interface FileSystem {
  realPath(path: string): Promise<string>;
  readLink(path: string): Promise<string>;
  /** Of the name itself, also where it is a link. */
  statusAt(path: string): Promise<FileStatus>;
  fileSystemAt(path: string): Promise<FileSystemStatus>;
  /** The same at once: what a root promises has to be known when the worker starts. */
  fileSystemAtStart(path: string): FileSystemStatus;
  /** As `statusAt`, but of what a link leads to, and at once. */
  statusAtStart(path: string): FileStatus;
  namesIn(directory: string): Promise<readonly string[]>;

  openDirectory(path: string): Promise<OpenFile>;
  /** Never follows a link, never waits for a pipe's other end. */
  openToRead(path: string): Promise<OpenFile>;
  openToWrite(path: string): Promise<OpenFile>;
  /** A new file, 0600; EEXIST where the name is taken, by a dangling link, too. */
  createNew(path: string): Promise<OpenFile>;
  /** The file that is there, or a new one of the mode. Never follows a link. */
  openOrCreate(path: string, mode: number): Promise<OpenFile>;
  close(file: OpenFile): Promise<void>;

  status(file: OpenFile): Promise<FileStatus>;
  /** How many bytes were read into `into`; 0 at the end. */
  read(file: OpenFile, into: Uint8Array, position: number): Promise<number>;
  /** How many were written: fewer than given without an error, e.g. on a disk that fills up. */
  write(file: OpenFile, bytes: Uint8Array, position: number): Promise<number>;
  truncate(file: OpenFile, size: number): Promise<void>;
  changeOwner(file: OpenFile, uid: number, gid: number): Promise<void>;
  changeMode(file: OpenFile, mode: number): Promise<void>;
  syncFile(file: OpenFile): Promise<void>;
  syncDirectory(directory: OpenFile): Promise<void>;

  link(existing: string, added: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;

  /** Why there is none of the calls below; null where they are there. Without it they throw. */
  addonMissing(): string | null;
  /** The kernel's lock on this opening of the file; false while another opening has it. */
  tryLock(file: OpenFile): boolean;
  unlock(file: OpenFile): void;
  /** Exchanges at once what two names stand for; both must exist. */
  swap(one: string, other: string): Promise<void>;
  attributesOf(file: OpenFile): Promise<readonly string[]>;
  attribute(file: OpenFile, name: string): Promise<Uint8Array | null>;
  setAttribute(file: OpenFile, name: string, value: Uint8Array): Promise<void>;
  removeAttribute(file: OpenFile, name: string): Promise<void>;
}

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } =
  constants;
const itself = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
const bigint = { bigint: true } as const;

export const nodeFiles: FileSystem = {
  realPath: (path) => fs.realpath(path),
  readLink: (path) => fs.readlink(path),
  statusAt: (path) => fs.lstat(path, bigint),
  fileSystemAt: (path) => fs.statfs(path, bigint),
  fileSystemAtStart: (path) => statfsSync(path, bigint),
  statusAtStart: (path) => statSync(path, bigint),
  namesIn: (directory) => fs.readdir(directory),

  openDirectory: (path) => fs.open(path, O_RDONLY | O_DIRECTORY),
  openToRead: (path) => fs.open(path, O_RDONLY | itself),
  openToWrite: (path) => fs.open(path, O_RDWR | itself),
  createNew: (path) => fs.open(path, O_RDWR | O_CREAT | O_EXCL, 0o600),
  openOrCreate: (path, mode) => fs.open(path, O_RDWR | O_CREAT | itself, mode),
  close: (file) => file.close(),

  status: (file) => file.stat(bigint),
  read: async (file, into, position) =>
    (await file.read(into, 0, into.byteLength, position)).bytesRead,
  write: async (file, bytes, position) =>
    (await file.write(bytes, 0, bytes.byteLength, position)).bytesWritten,
  truncate: (file, size) => file.truncate(size),
  changeOwner: (file, uid, gid) => file.chown(uid, gid),
  changeMode: (file, mode) => file.chmod(mode),
  // `sync`, never `datasync`: on macOS it is what reaches the disk.
  syncFile: (file) => file.sync(),
  syncDirectory: (directory) => directory.sync(),

  link: (existing, added) => fs.link(existing, added),
  rename: (from, to) => fs.rename(from, to),
  unlink: (path) => fs.unlink(path),

  addonMissing: () => native().missing ?? null,
  tryLock: (file) => addon().tryLock(file.fd),
  unlock: (file) => addon().unlock(file.fd),
  swap: async (one, other) => addon().swap(one, other),
  attributesOf: async (file) => addon().listAttrs(file.fd),
  attribute: async (file, name) => addon().getAttr(file.fd, name),
  setAttribute: async (file, name, value) => addon().setAttr(file.fd, name, value),
  removeAttribute: async (file, name) => addon().removeAttr(file.fd, name),
};

function addon(): Native {
  const { calls, missing } = native();
  if (calls === null) throw new Error(missing);
  return calls;
}
