// Runs of several shapes, each revoked at a random moment of its own progress, by the client or by
// the bare signal, with two worker processes at work. Played by the tests and by `npm run faults`.
//
// Would catch: a step that is scheduled although the run has handled its revocation, a gate that
// opens although the ledger has it, and an effect that no fact tells of. The last step of each run
// is held at its receiver, so that no run is over before it is struck.

import { Client, Connection } from '@temporalio/client';
import { openUnknowns } from '../../core/fact-rules.ts';
import type { Fact } from '../../core/facts.ts';
import type { RunResult } from '../../core/outcome.ts';
import type { Goal } from '../../workflows/messages.ts';
import { scheduledAfter } from '../support/after-signal.ts';
import {
  type FaultServer,
  type FaultStage,
  openFaultStage,
  until,
} from '../support/fault-stage.ts';
import { type ModelService, startModelService } from '../support/model-service.ts';
import { moment } from '../support/signal-flood.ts';
import { endText } from './harness.ts';

export const RANDOM_TITLE = 'R-034 R-109 revoked at a random moment, nothing begins any more';

const WITHIN_MS = 60_000;
const DELAY_MAX_MS = 60;
const STEPS = 8;
const TURNS = 3;
const CALLS = 6;

export interface RandomStage {
  readonly faults: FaultStage;
  readonly temporal: Client;
  readonly model: ModelService;
  close(): Promise<void>;
}

export async function openRandomStage(server: FaultServer): Promise<RandomStage> {
  const model = await startModelService((runId, turn) => (turn > TURNS ? [] : turnOf(runId, turn)));
  const faults = await openFaultStage(server, { settings: model.settings });
  const connection = await Connection.connect({ address: server.address });
  await Promise.all([faults.another('all'), faults.another('all')]);
  return {
    ...{ faults, model },
    temporal: new Client({ connection, namespace: server.namespace }),
    async close() {
      await faults.close();
      await connection.close();
      await model.close();
    },
  };
}

const step = (counter: string) => ({ tool: 'add', input: { counter, delta: 1 } });
const turnOf = (runId: string, turn: number) =>
  Array.from({ length: CALLS }, (_, index) => step(`${runId}-${turn}-${index + 1}`));
const planOf = (runId: string): Goal => ({
  kind: 'plan',
  steps: Array.from({ length: STEPS }, (_, index) => step(`${runId}-${index + 1}`)),
});

interface Shape {
  readonly goal: (runId: string) => Goal;
  /** Position of the step that is held. */
  readonly last: string;
  /** Actions with an effect, were it not revoked. */
  readonly actions: number;
  /** About as many facts as there are before its last steps begin. */
  readonly facts: number;
  /** Requests on which something happens: each is tried again. */
  readonly struck: readonly string[];
}

export const shapes = {
  sequence: {
    ...{ goal: planOf, last: `t${STEPS}.c1`, actions: STEPS, struck: [] },
    facts: 2 * STEPS,
  },
  batch: {
    goal: (runId) => ({ kind: 'model', instructions: runId }),
    ...{ last: `t${TURNS}.c1`, actions: TURNS * CALLS, struck: [] },
    facts: (TURNS - 1) * (2 + 2 * CALLS) + 2,
  },
  retrying: {
    ...{ goal: planOf, last: `t${STEPS}.c1`, actions: STEPS },
    struck: ['t1.c1', 't2.c1', 't3.c1'],
    facts: 2 * STEPS + 6,
  },
} as const satisfies Record<string, Shape>;

export interface RandomPlay {
  readonly runId: string;
  readonly shape: keyof typeof shapes;
  readonly by: 'client' | 'signal';
  readonly random: () => number;
}

/** The shapes in turn, and in each of them both ways to revoke. */
export function nthPlay(n: number): Pick<RandomPlay, 'shape' | 'by'> {
  const shape = (['sequence', 'batch', 'retrying'] as const)[n % 3] ?? 'sequence';
  return { shape, by: Math.floor(n / 3) % 2 === 0 ? 'signal' : 'client' };
}

export interface Struck {
  readonly end: string;
  /** Facts that there were when it was revoked. */
  readonly facts: number;
  readonly actions: number;
  readonly entered: number;
  readonly effects: number;
  readonly late: number;
  /** Attempt ids that were scheduled after the revocation was handled. */
  readonly scheduled: readonly string[];
  /** Attempt ids that entered after it was in the ledger. */
  readonly gates: readonly string[];
  /** Keys of effects of which the ledger says nothing, or that there are none. */
  readonly untold: readonly string[];
  /** Keys of effects beyond one per action. */
  readonly doubled: readonly string[];
  readonly told: number;
}

export async function playRandom(stage: RandomStage, play: RandomPlay): Promise<Struck> {
  const { faults } = stage;
  const { runId, random } = play;
  const shape: Shape = shapes[play.shape];
  await arm(faults, play, shape);
  const principal = { user: 'ada', workspace: 'w1' };
  const run = await faults.client.start(runId, { goal: shape.goal(runId), principal });
  const facts = await atRandom(stage, runId, Math.floor(random() * (shape.facts + 1)));
  await moment(random() * DELAY_MAX_MS);
  const revoke = { id: 'revoke', actor: 'ann@example.com', reason: 'withdrawn' };
  if (play.by === 'client') await faults.client.revoke(runId, revoke);
  else await stage.temporal.workflow.getHandle(runId).signal('revoke', revoke);
  const result = run.result();
  await until(`the end of ${runId}`, WITHIN_MS, async () => {
    // Also what comes to its receiver only now: it had entered before.
    await faults.receiver.release(`/${runId}.`);
    return (await faults.ledger.read(runId)).ended !== null;
  });
  return observed(stage, { runId, facts, actions: shape.actions, result: await result });
}

/** What is wrong with it; empty when everything holds. */
export function randomProblems(struck: Struck): readonly string[] {
  const { end, effects, told, scheduled, gates, untold, doubled } = struck;
  return [
    ...(end === 'stopped: revoked' ? [] : [`it ended ${end}`]),
    ...scheduled.map((id) => `${id} was scheduled after the revocation was handled`),
    ...gates.map((id) => `${id} entered after the revocation was recorded`),
    ...untold.map((key) => `${key} had an effect, and the ledger does not say so`),
    ...doubled.map((key) => `${key} had more than one effect`),
    ...(told === effects ? [] : [`the run tells of ${told} effects, there are ${effects}`]),
  ];
}

/** Where it struck, for the table. */
export function struckText({ facts, actions, entered, effects, late }: Struck): string {
  return `at ${facts} facts; ${entered} of ${actions} entered, ${effects} effects, ${late} late`;
}

async function arm({ receiver }: FaultStage, { runId, random }: RandomPlay, shape: Shape) {
  const at = (position: string) => ({ keyIncludes: `/${runId}.${position}` });
  await receiver.arm({ fault: 'hold', ...at(shape.last) });
  for (const position of shape.struck)
    await receiver.arm(
      random() < 0.5
        ? { fault: 'drop_before_commit', ...at(position) }
        : { fault: 'unavailable', on: 'execute', ...at(position) },
    );
}

/** Waits for so many facts, or until the last step is held. Returns how many there are. */
function atRandom({ faults }: RandomStage, runId: string, count: number): Promise<number> {
  let facts = 0;
  return until(`fact ${count} of ${runId}`, WITHIN_MS, async () => {
    facts = (await faults.ledger.read(runId)).head.count;
    if (facts >= count) return { facts };
    const { held } = await faults.receiver.faults();
    return held.some(({ key }) => key.includes(`/${runId}.`)) ? { facts } : null;
  }).then((reached) => reached.facts);
}

interface Of {
  readonly runId: string;
  readonly facts: number;
  readonly actions: number;
  readonly result: RunResult;
}

async function observed({ faults, temporal }: RandomStage, of: Of): Promise<Struck> {
  const { runId, facts, actions, result } = of;
  const { events } = await temporal.workflow.getHandle(runId).fetchHistory();
  const run = await faults.ledger.read(runId);
  const all = await faults.ledger.facts(runId, { after: 0, limit: 10_000 });
  const keys = (await faults.receiver.effects())
    .map(({ key }) => key)
    .filter((key) => key.includes(`/${runId}.`));
  const unknown = new Set(openUnknowns(run));
  const toldOf = (key: string) => {
    const actionId = key.slice(key.lastIndexOf('/') + 1);
    const action = run.actions.get(actionId);
    return action?.final?.kind === 'executed' || unknown.has(actionId);
  };
  const intents = [...run.actions.values()].filter(
    ({ attempts }) => attempts.length > 0 && attempts[0]?.entry.replay !== 'rebuy',
  );
  return {
    ...{ facts, actions, end: endText(result.end), told: result.effectsCount },
    ...{ entered: intents.length, effects: keys.length, late: result.lateFactsCount },
    scheduled: scheduledAfter(events ?? [], 'revoke'),
    gates: enteredAfterRevoke(all),
    untold: keys.filter((key) => !toldOf(key)),
    doubled: keys.filter((key, index) => keys.indexOf(key) !== index),
  };
}

function enteredAfterRevoke(facts: readonly Fact[]): readonly string[] {
  const revoked = facts.findIndex(
    ({ body }) => body.kind === 'authority_changed' && body.change === 'revoke',
  );
  if (revoked === -1) throw new Error('the ledger has no revocation');
  return facts
    .slice(revoked)
    .flatMap(({ body }) => (body.kind === 'attempt_entered' ? [body.attemptId] : []));
}
