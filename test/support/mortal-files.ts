// A process as far as its system calls go: one that dies, fails or stands still on entry of its n-th
// call. Dead means that nothing more happens: no call returns, no `finally` does anything, and what
// the kernel takes back at a process's end (open files, and locks with them) is taken back.

import type { FileSystem, OpenFile } from '../../activities/tools/files/system.ts';
import type { Ledger } from '../../ledger/port.ts';
import { portOf } from './activity-rig.ts';

/**
 * `dies`: on entry of the call; `fails_and_dies`: the call fails first, and the next one is not made;
 * `fails`: the call alone; `stands`: until `goOn`.
 */
export type Fate = 'dies' | 'fails_and_dies' | 'fails' | 'stands';

export interface Plan {
  /** Counted from 1; left out: nothing happens to it. */
  readonly at?: number;
  readonly fate?: Fate;
  /** Dies on entry of this one, whatever has come over it before. */
  readonly diesAt?: number;
}

export interface MortalProcess {
  readonly files: FileSystem;
  /** The calls so far, by name. */
  readonly calls: readonly string[];
  /** Once the fate has come over it. */
  readonly reached: Promise<void>;
  readonly died: Promise<void>;
  ledger(of: Ledger): Ledger;
  goOn(): void;
  /** Lets go of those who wait for a dead process; nothing they do then has an effect. */
  bury(): void;
}

type Call = keyof FileSystem;
type AnyCall = (...args: unknown[]) => unknown;

/** Of the start, before there is any work. */
const uncounted: ReadonlySet<Call> = new Set<Call>(['addonMissing', 'fileSystemAtStart']);
const immediate: ReadonlySet<Call> = new Set<Call>(['tryLock', 'unlock']);
const opening: ReadonlySet<Call> = new Set<Call>([
  'openDirectory',
  'openToRead',
  'openToWrite',
  'createNew',
  'openOrCreate',
]);

export class DeadError extends Error {
  override readonly name = 'DeadError';
}

export function mortalProcess(
  base: FileSystem,
  { at, fate = 'dies', diesAt }: Plan = {},
): MortalProcess {
  const calls: string[] = [];
  const open = new Set<OpenFile>();
  const waiting = new Set<(error: Error) => void>();
  const reached = gate();
  const goneOn = gate();
  const died = gate();
  let life: 'alive' | 'dead' | 'buried' = 'alive';

  const never = () =>
    life === 'buried'
      ? Promise.reject(new DeadError('dead and buried'))
      : new Promise<never>((_, reject) => waiting.add(reject));
  const die = () => {
    life = 'dead';
    const closed = [...open].map((file) => file.close());
    void Promise.allSettled(closed).then(() => {
      reached.pass();
      died.pass();
    });
  };
  /** What comes over this call: null where it is made. */
  const fateOf = (name: Call): Fate | 'is_dead' | null => {
    if (life !== 'alive') return 'is_dead';
    calls.push(name);
    if (fate === 'fails_and_dies' && calls.length === (at ?? 0) + 1) {
      die();
      return 'is_dead';
    }
    if (calls.length === diesAt) return 'dies';
    return calls.length === at ? fate : null;
  };
  const failed = (name: Call) =>
    Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO' });

  const counted = (name: Call): AnyCall => {
    const call = base[name] as AnyCall;
    if (uncounted.has(name)) return call;
    if (immediate.has(name))
      return (...args) => {
        const coming = fateOf(name);
        if (coming === 'dies') die();
        if (coming === 'fails' || coming === 'fails_and_dies') throw failed(name);
        if (coming === 'dies' || coming === 'is_dead') throw new DeadError(name);
        return call(...args);
      };
    return async (...args) => {
      const coming = fateOf(name);
      if (coming === 'dies') die();
      if (coming === 'dies' || coming === 'is_dead') return never();
      if (coming === 'fails' || coming === 'fails_and_dies') {
        // The kernel closes a file also where it has an error to tell.
        if (name === 'close') open.delete(args[0] as OpenFile);
        if (name === 'close') await call(...args);
        throw failed(name);
      }
      if (coming === 'stands') {
        reached.pass();
        await goneOn.passed;
      }
      if (name === 'close') open.delete(args[0] as OpenFile);
      const done = await call(...args);
      if (opening.has(name)) open.add(done as OpenFile);
      return done;
    };
  };

  const names = Object.keys(base) as Call[];
  const files = Object.fromEntries(names.map((name) => [name, counted(name)]));
  return {
    files: files as unknown as FileSystem,
    calls,
    reached: reached.passed,
    died: died.passed,
    ledger: (of) => ({
      ...portOf(of),
      transact: (look, decide) => (life === 'alive' ? of.transact(look, decide) : never()),
      read: (runId) => (life === 'alive' ? of.read(runId) : never()),
    }),
    goOn: goneOn.pass,
    bury() {
      if (life === 'dead') life = 'buried';
      for (const reject of waiting) reject(new DeadError('dead and buried'));
      waiting.clear();
    },
  };
}

function gate(): { readonly passed: Promise<void>; readonly pass: () => void } {
  let pass: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return { passed, pass };
}
