// Points at which a worker process can be killed: a decorator of the ledger, so that the product's
// code knows nothing of them. A reached point announces itself and never goes on; whoever armed it
// then sends SIGKILL.
//
// INV-1 An armed point fires at most once, over any number of processes and restarts: it is taken
//       by renaming its file.
// INV-2 Points before a commit are found by asking the decision what it would write, and refusing:
//       nothing is written.

import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NewFact } from '../../core/facts.ts';
import type { Ledger } from '../../ledger/port.ts';

/** In the order in which one attempt passes them. */
export const killPoints = [
  /** The gate would let it through; nothing of it is written. */
  'before_gate',
  /** Entered; nothing has been sent. */
  'after_gate',
  /** The receiver has answered; the result is not stored. */
  'after_receiver_commit',
  /** The result is stored; the workflow has not heard of it. */
  'after_result',
] as const;
export type KillPoint = (typeof killPoints)[number];

export interface ArmedPoint {
  readonly point: KillPoint;
  readonly actionId: string;
}

const ARMED = '.armed';

/** Arms a point for the workers that look into `directory`. */
export function armKillPoint(directory: string, { point, actionId }: ArmedPoint): void {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${point}.${encodeURIComponent(actionId)}`);
  writeFileSync(`${path}.draft`, JSON.stringify({ point, actionId }));
  renameSync(`${path}.draft`, `${path}${ARMED}`);
}

export interface KillPointOptions {
  readonly directory: string;
  /** Called once the point is taken; must not throw. */
  readonly announce: (reached: ArmedPoint) => void;
}

/** `ledger`, standing still at armed points. */
export function withKillPoints(ledger: Ledger, options: KillPointOptions): Ledger {
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
          const reached = taken(options.directory, pointsAt(facts, 'before'));
          if (reached !== null) throw new ReachedError(reached);
          return decision;
        });
        const reached = taken(options.directory, pointsAt(facts, 'after'));
        return reached === null ? committed : await standStill(reached, options);
      } catch (error) {
        if (error instanceof ReachedError) return standStill(error.reached, options);
        throw error;
      }
    },
  };
}

class ReachedError extends Error {
  override readonly name = 'ReachedError';
  readonly reached: ArmedPoint;
  constructor(reached: ArmedPoint) {
    super(`${reached.point} ${reached.actionId}: standing still until the process is killed`);
    this.reached = reached;
  }
}

function standStill(reached: ArmedPoint, { announce }: KillPointOptions): Promise<never> {
  announce(reached);
  return new Promise(() => undefined);
}

const table = {
  before: { attempt_entered: 'before_gate', attempt_settled: 'after_receiver_commit' },
  after: { attempt_entered: 'after_gate', attempt_settled: 'after_result' },
} as const satisfies Record<string, Record<string, KillPoint>>;

function pointsAt(facts: readonly NewFact[], side: keyof typeof table): readonly ArmedPoint[] {
  return facts.flatMap(({ body, source }) => {
    if (body.kind !== 'attempt_entered' && body.kind !== 'attempt_settled') return [];
    // What an inquiry settles passes no send: it is another way.
    if (source !== 'execution' && source !== 'late_result') return [];
    return [{ point: table[side][body.kind], actionId: body.actionId }];
  });
}

/** The armed point among `passed`, now no longer armed; or null. */
function taken(directory: string, passed: readonly ArmedPoint[]): ArmedPoint | null {
  if (passed.length === 0) return null;
  for (const name of readdirSync(directory)) {
    if (!name.endsWith(ARMED)) continue;
    const path = join(directory, name);
    const armed = JSON.parse(readFileSync(path, 'utf8')) as ArmedPoint;
    const hit = passed.find((p) => p.point === armed.point && p.actionId === armed.actionId);
    if (hit !== undefined && wonRename(path)) return hit;
  }
  return null;
}

function wonRename(path: string): boolean {
  try {
    renameSync(path, `${path.slice(0, -ARMED.length)}.taken`);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
