// A process as far as its system calls go: one that dies, fails or stands still on entry of its
// n-th call. Dead means that nothing more happens: no call returns, no `finally` does anything, and
// what the kernel takes back at a process's end (open files, and locks with them) is taken back.

import type { FileSystem, OpenFile } from '../../activities/tools/files/system.ts';
import type { Ledger } from '../../ledger/port.ts';
import { portOf } from './activity-rig.ts';

/**
 * `dies`: on entry of the call; `fails_and_dies`: the call fails, and the next one is not made;
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
const uncounted: ReadonlySet<Call> = new Set<Call>([
  ...(['addonMissing', 'fileSystemAtStart', 'statusAtStart'] as const),
]);
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

export function mortalProcess(base: FileSystem, plan: Plan = {}): MortalProcess {
  const life = beginning(plan);
  const names = Object.keys(base) as Call[];
  const files = Object.fromEntries(names.map((name) => [name, played(life, base, name)]));
  return {
    files: files as unknown as FileSystem,
    calls: life.calls,
    reached: life.reached.passed,
    died: life.died.passed,
    ledger: (of) => ({
      ...portOf(of),
      transact: (look, decide) => (life.isAlive() ? of.transact(look, decide) : life.never()),
      read: (runId) => (life.isAlive() ? of.read(runId) : life.never()),
    }),
    goOn: life.goneOn.pass,
    bury: life.bury,
  };
}

type Life = ReturnType<typeof beginning>;

function beginning({ at, fate = 'dies', diesAt }: Plan) {
  const calls: string[] = [];
  const open = new Set<OpenFile>();
  const waiting = new Set<(error: Error) => void>();
  const [reached, goneOn, died] = [gate(), gate(), gate()];
  let state: 'alive' | 'dead' | 'buried' = 'alive';
  const die = () => {
    state = 'dead';
    const closed = [...open].map((file) => file.close());
    void Promise.allSettled(closed).then(() => {
      reached.pass();
      died.pass();
    });
  };
  return {
    ...{ calls, open, reached, goneOn, died },
    isAlive: () => state === 'alive',
    never: () =>
      state === 'buried'
        ? Promise.reject(new DeadError('dead and buried'))
        : new Promise<never>((_, reject) => waiting.add(reject)),
    /** What comes over this call: null where it is made. */
    comesOver(name: Call): Exclude<Fate, 'fails_and_dies'> | null {
      if (state !== 'alive') return 'dies';
      calls.push(name);
      const count = calls.length;
      const hasFailed = fate === 'fails_and_dies' && count === (at ?? 0) + 1;
      const comes = count === at ? fate : null;
      if (hasFailed || count === diesAt || comes === 'dies') {
        die();
        return 'dies';
      }
      return comes === 'fails_and_dies' ? 'fails' : comes;
    },
    bury() {
      if (state === 'dead') state = 'buried';
      for (const reject of waiting) reject(new DeadError('dead and buried'));
      waiting.clear();
    },
  };
}

function played(life: Life, base: FileSystem, name: Call): AnyCall {
  const call = base[name] as AnyCall;
  if (uncounted.has(name)) return call;
  if (immediate.has(name))
    return (...args) => {
      const coming = life.comesOver(name);
      if (coming === 'dies') throw new DeadError(name);
      if (coming === 'fails') throw failed(name);
      return call(...args);
    };
  return async (...args) => {
    const coming = life.comesOver(name);
    if (coming === 'dies') return life.never();
    if (coming === 'stands') life.reached.pass();
    if (coming === 'stands') await life.goneOn.passed;
    // The kernel closes a file also where it has an error to tell.
    if (name === 'close') life.open.delete(args[0] as OpenFile);
    if (name === 'close' && coming === 'fails') await call(...args);
    if (coming === 'fails') throw failed(name);
    const done = await call(...args);
    if (opening.has(name)) life.open.add(done as OpenFile);
    return done;
  };
}

function failed(name: Call): Error {
  return Object.assign(new Error(`EIO: i/o error, ${name}`), { code: 'EIO' });
}

function gate(): { readonly passed: Promise<void>; readonly pass: () => void } {
  let pass: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return { passed, pass };
}
