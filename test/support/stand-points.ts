// Points at which a worker process of the zombie tests stands still until it is let go, so that a
// test can freeze it there, do what it likes to the run, and wake it. Decorators of ports: the
// product's code knows nothing of them.
//
// INV-1 An armed point is taken once, over any number of processes: by renaming its file.
// INV-2 A point before a commit writes nothing; once let go, the decision is made anew.

import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BarrierServer, Clock, LateSignals, Registry } from '../../activities/index.ts';
import type { Json } from '../../core/digest.ts';
import type { NewFact } from '../../core/facts.ts';
import type { Ledger } from '../../ledger/port.ts';

export type StandPoint =
  /** Of an attempt, in the order in which it passes them. Preparing: its input is checked. */
  | 'preparing'
  | 'before_barrier'
  | 'before_gate'
  | 'after_gate'
  /** The tool is called, and has not looked at the send window. */
  | 'before_send'
  /** What it will be recognised by is about to be recorded. */
  | 'before_prepare'
  /** The receiver has answered; the result is not stored. */
  | 'before_result'
  | 'after_result'
  /** The late fact is in the ledger, nobody has been told. */
  | 'before_late_signal'
  /** Of a run: barrier passed, nothing written. */
  | 'before_open'
  | 'before_end'
  /** The run has heard of the revocation, the ledger has not. */
  | 'before_revoke'
  /** The run has heard of the amendment, the ledger has not; the ledger has, and not the run. */
  | 'before_amend'
  | 'after_amend'
  /** Of a file: its marks are recorded, and it is not published; it is, and nobody knows it. */
  | 'before_publish'
  | 'after_publish';

export interface Stand {
  readonly point: StandPoint;
  /**
   * Action id; the run's id where the point is one of a run; the subject of what is checked; the
   * name of the file that is published.
   */
  readonly about: string;
  /**
   * What its clocks did meanwhile: went on; stood still, as those of a suspended machine do; or the
   * wall clock was set back by so many ms.
   */
  readonly clock?: 'stood' | { readonly setBackMs: number };
}

interface Armed extends Stand {
  readonly id: string;
}

const ARMED = '.armed';
const POLL_MS = 5;

/** Arms a point; what it returns lets go the process that took it. */
export function armStand(directory: string, stand: Stand): () => void {
  mkdirSync(directory, { recursive: true });
  const armed: Armed = { ...stand, id: randomUUID() };
  const path = join(directory, armed.id);
  writeFileSync(`${path}.draft`, JSON.stringify(armed));
  renameSync(`${path}.draft`, `${path}${ARMED}`);
  return () => writeFileSync(`${path}.go`, '');
}

export interface StandOptions {
  readonly directory: string;
  /** `REACHED <point> <about>` and, once the step is over, `PASSED <point> <about>`. */
  readonly say: (line: string) => void;
}

/** As `createWorkers` takes it. */
export function standing(options: StandOptions) {
  const standstill = standstillOf(options);
  return {
    ledger: (ledger: Ledger) => standingLedger(ledger, standstill),
    registry: (registry: Registry) => standingRegistry(registry, standstill),
    barrier: (barrier: BarrierServer) => standingBarrier(barrier, standstill),
    signals: (signals: LateSignals) => standingSignals(signals, standstill),
    clock: (clock: Clock): Clock => ({ ...clock, now: () => standstill.shifted(clock) }),
  };
}

type Passing = Pick<Stand, 'point' | 'about'>;

export interface Standstill {
  /** Whether one of these is armed, now taken. */
  take(passed: readonly Passing[]): Armed | null;
  /** Stands, then does the step. */
  stand<T>(armed: Armed, step: () => Promise<T>): Promise<T>;
  shifted(clock: Clock): ReturnType<Clock['now']>;
}

export function standstillOf({ directory, say }: StandOptions): Standstill {
  const behind = { monotonicMs: 0, wallMs: 0 };
  return {
    take: (passed) => taken(directory, passed),
    async stand({ id, point, about, clock }, step) {
      const before = performance.now();
      say(`REACHED ${point} ${about}`);
      while (!existsSync(join(directory, `${id}.go`))) await pause(POLL_MS);
      const stoodMs = performance.now() - before;
      if (clock === 'stood') {
        behind.monotonicMs += stoodMs;
        behind.wallMs += stoodMs;
      } else if (clock !== undefined) behind.wallMs += clock.setBackMs;
      try {
        return await step();
      } finally {
        say(`PASSED ${point} ${about}`);
      }
    },
    shifted(clock) {
      const { monotonicMs, wallMs } = clock.now();
      return { monotonicMs: monotonicMs - behind.monotonicMs, wallMs: wallMs - behind.wallMs };
    },
  };
}

function taken(directory: string, passed: readonly Passing[]): Armed | null {
  if (passed.length === 0) return null;
  for (const name of readdirSync(directory)) {
    if (!name.endsWith(ARMED)) continue;
    const path = join(directory, name);
    const armed = read(path);
    if (armed === null) continue;
    const hit = passed.some(({ point, about }) => point === armed.point && about === armed.about);
    if (hit && wonRename(path)) return armed;
  }
  return null;
}

/** Null: another process has taken it meanwhile. */
function read(path: string): Armed | null {
  return unlessGone(() => JSON.parse(readFileSync(path, 'utf8')) as Armed);
}

function wonRename(path: string): boolean {
  const won = unlessGone(() => {
    renameSync(path, `${path.slice(0, -ARMED.length)}.taken`);
    return true;
  });
  return won === true;
}

function unlessGone<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

class ReachedError extends Error {
  override readonly name = 'ReachedError';
  readonly armed: Armed;
  constructor(armed: Armed) {
    super(`${armed.point} ${armed.about}: standing still; nothing is written`);
    this.armed = armed;
  }
}

function standingLedger(ledger: Ledger, { take, stand }: Standstill): Ledger {
  return {
    identity: ledger.identity,
    read: (runId) => ledger.read(runId),
    facts: (runId, range) => ledger.facts(runId, range),
    payload: (digest) => ledger.payload(digest),
    runs: (limit) => ledger.runs(limit),
    close: () => ledger.close(),
    async transact(look, decide) {
      let facts: readonly NewFact[] = [];
      try {
        const committed = await ledger.transact(look, (view) => {
          const decision = decide(view);
          facts = decision.facts;
          const armed = take(facts.flatMap((fact) => passedBy(look.runId, fact).before));
          if (armed !== null) throw new ReachedError(armed);
          return decision;
        });
        const armed = take(facts.flatMap((fact) => passedBy(look.runId, fact).after));
        return armed === null ? committed : await stand(armed, async () => committed);
      } catch (error) {
        if (!(error instanceof ReachedError)) throw error;
        return stand(error.armed, () => ledger.transact(look, decide));
      }
    },
  };
}

function passedBy(runId: string, { body, source }: NewFact): Record<'before' | 'after', Passing[]> {
  const none = { before: [], after: [] };
  switch (body.kind) {
    case 'attempt_entered':
      return {
        before: [{ point: 'before_gate', about: body.actionId }],
        after: [{ point: 'after_gate', about: body.actionId }],
      };
    case 'attempt_prepared':
      return { ...none, before: [{ point: 'before_prepare', about: body.actionId }] };
    case 'attempt_settled':
      return source === 'execution'
        ? {
            before: [{ point: 'before_result', about: body.actionId }],
            after: [{ point: 'after_result', about: body.actionId }],
          }
        : none;
    case 'run_opened':
      return { ...none, before: [{ point: 'before_open', about: runId }] };
    case 'run_ended':
      return { ...none, before: [{ point: 'before_end', about: runId }] };
    case 'authority_changed':
      return ofChange(runId, body.change);
    default:
      return none;
  }
}

function ofChange(about: string, change: string): ReturnType<typeof passedBy> {
  const passing = (point: StandPoint): Passing[] => [{ point, about }];
  if (change === 'revoke') return { before: passing('before_revoke'), after: [] };
  if (change !== 'amend') return { before: [], after: [] };
  return { before: passing('before_amend'), after: passing('after_amend') };
}

function standingBarrier(barrier: BarrierServer, { take, stand }: Standstill): BarrierServer {
  return {
    history: (target, deadlineMs) => barrier.history(target, deadlineMs),
    describe(target, deadlineMs) {
      const about = target.activityId.split('~', 1)[0] ?? '';
      const armed = take([{ point: 'before_barrier', about }]);
      const ask = () => barrier.describe(target, deadlineMs);
      return armed === null ? ask() : stand(armed, ask);
    },
  };
}

function standingRegistry(registry: Registry, { take, stand }: Standstill): Registry {
  const tools = [...registry.tools].map(([name, tool]) => {
    const execute: typeof tool.execute = (input, attempt) => {
      const armed = take([{ point: 'before_send', about: attempt.actionId }]);
      const call = () => tool.execute(input, attempt);
      return armed === null ? call() : stand(armed, call);
    };
    const check: typeof tool.check = (value) => {
      const armed = take([{ point: 'preparing', about: subjectOf(value) }]);
      const look = () => tool.check(value);
      return armed === null ? look() : stand(armed, look);
    };
    return [name, { ...tool, execute, check }] as const;
  });
  return { tools: new Map(tools) };
}

function subjectOf(value: Json): string {
  return String((value as { readonly subject?: Json } | null)?.subject ?? '');
}

function standingSignals(signals: LateSignals, { take, stand }: Standstill): LateSignals {
  const standings = new Map<string, Promise<void>>();
  const afterIt = async (actionId: string, tell: () => Promise<void>) => {
    const armed = take([{ point: 'before_late_signal', about: actionId }]);
    if (armed !== null)
      standings.set(
        actionId,
        stand(armed, async () => undefined),
      );
    await standings.get(actionId);
    await tell();
  };
  return {
    toQuestion: (question, fact) =>
      afterIt(fact.actionId, () => signals.toQuestion(question, fact)),
    toRun: (runId, fact) => afterIt(fact.actionId, () => signals.toRun(runId, fact)),
  };
}
