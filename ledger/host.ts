// Where a SQLite ledger may stand: on a file system of this host, written by this host alone. WAL
// keeps its index in shared memory, so a second host reads and writes without seeing the first.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { hostname, platform } from 'node:os';
import { dirname } from 'node:path';
import { limits } from '../core/limits.ts';
import { fileError } from './file-errors.ts';
import { LedgerError } from './port.ts';
import type { MetaTable } from './tables.ts';

/** What the machine says; tests put others in. */
export interface Host {
  /** The machine's clock, ms since the epoch. */
  clock(): number;
  /** Type number of the file system that holds `path`; null where the platform tells none. */
  fileSystemType(path: string): Promise<number | null>;
  /** Different on every host, and on the same host after a reboot. */
  bootId(): string;
  newId(): string;
}

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';

export const thisHost: Host = {
  clock: () => Date.now(),
  // Outside Linux the numbers are given out anew by each kernel and prove nothing.
  fileSystemType: async (path) => (platform() === 'linux' ? (await statfs(path)).type : null),
  bootId: () =>
    platform() === 'linux' ? readFileSync(BOOT_ID_FILE, 'utf8').trim() : `host ${hostname()}`,
  newId: () => randomUUID(),
};

/** Magic numbers of `statfs(2)`: files that another host can write, or that come through one. */
export const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'kAFS'],
  [0x73757245, 'Coda'],
  [0x00c36400, 'Ceph'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x19830326, 'BeeGFS'],
  [0x786f4256, 'vboxsf'],
  [0x564c, 'NCP'],
]);

/** Throws `network_file_system`. A path that does not exist is as its nearest directory. */
export async function refuseNetworkFileSystem(host: Host, path: string): Promise<void> {
  const type = await fileSystemTypeAbove(host, path);
  const name = type === null ? undefined : networkFileSystems.get(type >>> 0);
  if (name === undefined) return;
  throw new LedgerError(
    'network_file_system',
    `ledger ${path}: it is on a ${name} file system, where SQLite's locks do not hold; ` +
      'put it on a disk of this host',
    { nothingWritten: true },
  );
}

async function fileSystemTypeAbove(host: Host, path: string): Promise<number | null> {
  try {
    return await host.fileSystemType(path);
  } catch (error) {
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path)
      throw fileError(path, error);
    return fileSystemTypeAbove(host, above);
  }
}

type Writer = Pick<MetaTable, 'writer_boot' | 'writer_seen_at'>;

/** Throws `other_host` while another host's writer may be alive. */
export function refuseLiveWriterElsewhere(host: Host, place: string, writer: Writer): void {
  const { writer_boot: boot, writer_seen_at: seenAt } = writer;
  if (boot === null || boot === host.bootId()) return;
  // The other clock may be ahead of this one.
  const quietMs = Math.abs(host.clock() - seenAt);
  if (quietMs >= limits.ledgerHostQuietMs) return;
  const seconds = Math.ceil((limits.ledgerHostQuietMs - quietMs) / 1_000);
  throw new LedgerError(
    'other_host',
    `ledger ${place}: another host (boot ${boot}) wrote it ${Math.round(quietMs / 1_000)} s ago; ` +
      `a SQLite ledger has one host: stop the other, or after a reboot try again in ${seconds} s`,
    { nothingWritten: true },
  );
}

/** Throws `other_host` when another host has opened the ledger since this one did. */
export function refuseLostPlace(host: Host, place: string, writer: Writer): void {
  if (writer.writer_boot === null || writer.writer_boot === host.bootId()) return;
  throw new LedgerError(
    'other_host',
    `ledger ${place}: another host (boot ${writer.writer_boot}) has taken it over; a SQLite ` +
      'ledger has one host: stop one of the two and open it again',
    { nothingWritten: true },
  );
}
