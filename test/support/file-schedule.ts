// Several actors on one directory, one system call at a time, in an order that a test decides: each
// call of each of them waits for its turn. One that gets none stands; one that is killed makes no
// call any more, and what it had open is closed.

import type { FileSystem, OpenFile } from '../../activities/tools/files/system.ts';

type Call = keyof FileSystem;
type AnyCall = (...args: unknown[]) => unknown;

/** They cannot wait. */
const immediate: ReadonlySet<Call> = new Set<Call>([
  'addonMissing',
  'fileSystemAtStart',
  'statusAtStart',
  'tryLock',
  'unlock',
]);

export interface Actor {
  readonly name: string;
  readonly files: FileSystem;
  /** A step that is no system call. */
  turn<T>(what: string, body: () => T): Promise<T>;
}

export interface Watch {
  before(actor: string, call: string, args: readonly unknown[]): void;
  after(actor: string, call: string, args: readonly unknown[]): void;
}

interface Turn {
  readonly what: string;
  readonly run: () => Promise<void>;
}

interface Life {
  readonly open: Set<OpenFile>;
  turn: Turn | null;
  isOver: boolean;
  /** Tells who waits for the actor's next step. */
  moved: () => void;
}

export class Schedule {
  readonly trace: string[] = [];
  private readonly lives = new Map<string, Life>();
  private readonly base: FileSystem;
  private readonly watch: Watch;

  constructor(base: FileSystem, watch: Watch) {
    this.base = base;
    this.watch = watch;
  }

  actor(name: string, play: (actor: Actor) => Promise<void>): void {
    const life: Life = { open: new Set(), turn: null, isOver: false, moved: () => undefined };
    this.lives.set(name, life);
    const turn = <T>(what: string, body: () => T | Promise<T>) => this.turn(life, what, body);
    const calls = Object.keys(this.base) as Call[];
    const files = Object.fromEntries(calls.map((call) => [call, this.call(name, life, call)]));
    void play({ name, files: files as unknown as FileSystem, turn: turn as Actor['turn'] })
      .catch((error: unknown) => this.trace.push(`${name} threw ${error}`))
      .finally(() => {
        life.isOver = true;
        life.moved();
      });
  }

  cast(): string[] {
    return [...this.lives.keys()];
  }

  waitingNames(): string[] {
    return this.cast().filter((name) => this.next(name) !== '');
  }

  /** What the actor waits to do. */
  next(name: string): string {
    return this.lives.get(name)?.turn?.what ?? '';
  }

  async step(name: string): Promise<void> {
    const life = this.lives.get(name);
    const turn = life?.turn;
    if (life === undefined || turn == null) return;
    life.turn = null;
    this.trace.push(`${name}: ${turn.what}`);
    await turn.run();
    await this.settle(name);
  }

  /** Until the actor waits for its turn, or is done. */
  async settle(name: string): Promise<void> {
    const life = this.lives.get(name);
    while (life !== undefined && life.turn === null && !life.isOver)
      await new Promise<void>((resolve) => {
        life.moved = resolve;
      });
  }

  async kill(name: string): Promise<void> {
    const life = this.lives.get(name);
    if (life === undefined) return;
    this.trace.push(`${name} is killed`);
    life.isOver = true;
    life.turn = null;
    await Promise.allSettled([...life.open].map((file) => file.close()));
  }

  private turn<T>(life: Life, what: string, body: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (life.isOver) return;
      const run = async () => {
        try {
          resolve(await body());
        } catch (error) {
          reject(error);
        }
      };
      life.turn = { what, run };
      life.moved();
    });
  }

  private call(actor: string, life: Life, call: Call): AnyCall {
    const system = this.base[call] as AnyCall;
    if (immediate.has(call)) return system;
    const made = async (args: readonly unknown[]) => {
      this.watch.before(actor, call, args);
      if (call === 'close') life.open.delete(args[0] as OpenFile);
      const got = await system(...args);
      if (call.startsWith('open') || call === 'createNew') life.open.add(got as OpenFile);
      this.watch.after(actor, call, args);
      return got;
    };
    return (...args) => {
      const names = args.flatMap((arg) =>
        typeof arg === 'string' ? [arg.slice(arg.lastIndexOf('/') + 1)] : [],
      );
      return this.turn(life, [call, ...names].join(' '), () => made(args));
    };
  }
}
