// Would catch: an attempt that enters because it was already on its way when permission was
// withdrawn, at whichever point of its way it was; a result that is dropped because permission was
// withdrawn while it was being had; and anything that is begun, taken back or rewritten because of
// it.
//
// One process acts, and stands at every point of an attempt's way when each run is revoked: by the
// client, so that the ledger has it first, and by the bare signal of the Web UI, so that the ledger
// hears of it only when the attempt has had its answer.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Child } from '../../examples/support-desk/child.ts';
import { until } from '../support/fault-stage.ts';
import { operatorOf } from '../support/operator.ts';
import {
  type Before,
  fileStep,
  heard,
  lookBefore,
  type Revoking,
  revokeBy,
  seenAfter,
  stoppedWith,
  unhurried,
  type Way,
  ways,
} from '../support/revoke-ways.ts';
import type { StandPoint } from '../support/stand-points.ts';
import {
  noticeOf,
  openZombieStage,
  untilHeld,
  WITHIN_MS,
  type ZombieStage,
} from '../support/zombie-stage.ts';

/** Where the second step of a run is when the run is revoked. */
interface Boundary {
  readonly where: string;
  readonly at: StandPoint | 'prefetched' | 'in_call' | 'retry_wait';
  /** Of the refusal; null: it had entered, and has its effect. */
  readonly verdict: string | null;
}

const boundaries: readonly Boundary[] = [
  { where: 'while a worker has prefetched it', at: 'prefetched', verdict: 'attempt_not_current' },
  { where: 'while its input is checked', at: 'preparing', verdict: 'attempt_not_current' },
  { where: 'before the barrier', at: 'before_barrier', verdict: 'attempt_not_current' },
  { where: 'between barrier and gate', at: 'before_gate', verdict: 'revoked' },
  { where: 'between gate and call', at: 'after_gate', verdict: null },
  { where: 'before the first byte', at: 'before_send', verdict: null },
  { where: 'in the call', at: 'in_call', verdict: null },
  { where: 'before its result is told', at: 'after_result', verdict: null },
];

interface Case extends Boundary {
  readonly way: Way;
  readonly runId: string;
}

const cases: readonly Case[] = boundaries.flatMap((boundary) =>
  ways.map((way) => ({
    ...boundary,
    way,
    runId: `point-${boundary.at}-${way}`.replaceAll('_', '-'),
  })),
);
const waits = ways.map((way) => ({ way, runId: `point-retry-wait-${way}` }));
const [prefetched, standing] = [
  cases.filter(({ at }) => at === 'prefetched'),
  cases.filter(({ at }) => at !== 'prefetched'),
];
const HOLDERS = ['point-holder-a', 'point-holder-b'];
const actionOf = (runId: string) => `${runId}.t2.c1`;

let stage: ZombieStage;
/** Runs workflows, records, and writes the files. */
let others: Child;
/** Does the second steps. */
let hands: Child;
const before = new Map<string, Before>();

beforeAll(async () => {
  stage = await openZombieStage();
  [others, hands] = await Promise.all([
    stage.worker(['runs', 'actions', 'inquiries'], { env: unhurried }),
    stage.worker(['tools'], { slots: 30, env: unhurried }),
  ]);
  await whilePrefetched();
  await Promise.all([...standing.map(whileStanding), ...waits.map(whileWaiting)]);
});
afterAll(() => stage.close());

const next = { tool: 'add', input: { counter: 'never', delta: 1 } };

/** The receiver of the call lets go what it holds by its key, the other one everything. */
const counted = (runId: string) => ({ tool: 'add', input: { counter: runId, delta: 1 } });

function begin(runId: string, step = noticeOf(runId, 'patient_notice')): Promise<void> {
  return stage.start(runId, [fileStep(runId), step, next]);
}

async function revoke(runId: string, way: Way): Promise<Revoking> {
  before.set(runId, await lookBefore(stage, runId));
  const revoking = await revokeBy(stage, runId, way);
  await revoking.told(others);
  await heard(stage, runId);
  return revoking;
}

const answered = (runId: string) =>
  until(`the end of ${actionOf(runId)}`, WITHIN_MS, async () => {
    const bodies = (await stage.facts(runId)).map(({ body }) => body);
    return bodies.some(
      (body) =>
        (body.kind === 'attempt_refused' || body.kind === 'attempt_settled') &&
        body.actionId === actionOf(runId),
    );
  });

/** Two attempts are at work in the process, others are handed to it while it is frozen. */
async function whilePrefetched(): Promise<void> {
  for (const runId of HOLDERS) {
    await stage.gateway.arm({ fault: 'hold', bodyIncludes: ` ${runId} ` });
    await stage.start(runId, [noticeOf(runId, 'patient_notice')]);
  }
  for (const runId of HOLDERS) await untilHeld(stage.gateway, runId);
  hands.freeze();
  const operator = operatorOf(stage.temporal);
  for (const { runId } of prefetched) await begin(runId);
  const revoked = [];
  for (const { runId, way } of prefetched) {
    await until(`${runId} is handed out`, WITHIN_MS, async () =>
      (await operator.pending(runId)).some(
        ({ attemptId, started }) => started && attemptId.startsWith(actionOf(runId)),
      ),
    );
    revoked.push(await revoke(runId, way));
  }
  await stage.gateway.release();
  hands.thaw();
  for (const { runId } of prefetched) await answered(runId);
  for (const revoking of revoked) await revoking.record();
}

/** Its clocks stand as well: what is refused is refused for the revocation alone. */
async function whileStanding({ at, runId, way, verdict }: Case): Promise<void> {
  const goOn = await brought(at, runId);
  const revoking = await revoke(runId, way);
  // Its barrier began before: from there on only the ledger can refuse it, or tell it to be late.
  if (verdict !== 'attempt_not_current') await revoking.record();
  await goOn();
  await answered(runId);
  await revoking.record();
}

async function brought(at: Boundary['at'], runId: string): Promise<() => Promise<void> | void> {
  if (at === 'in_call') {
    await stage.receiver.arm({ fault: 'hold', keyIncludes: actionOf(runId) });
    await begin(runId, counted(runId));
    await untilHeld(stage.receiver, runId);
    return async () => void (await stage.receiver.release(actionOf(runId)));
  }
  const point = at as StandPoint;
  const subject = (noticeOf(runId).input as { readonly subject: string }).subject;
  const about = point === 'preparing' ? subject : actionOf(runId);
  const goOn = stage.arm({ point, about, clock: 'stood' });
  await begin(runId);
  await hands.line(`REACHED ${point} ${about}`, WITHIN_MS);
  return goOn;
}

/** Two tries of a read were put off; the third waits for its time. */
async function whileWaiting({ runId, way }: (typeof waits)[number]): Promise<void> {
  const lookup = { tool: 'busy_lookup', input: { key: runId } };
  await stage.start(runId, [fileStep(runId), lookup, next]);
  const { pending } = operatorOf(stage.temporal);
  await until(`${runId} waits`, WITHIN_MS, async () => {
    const { actions } = await stage.ledger.read(runId);
    const tries = actions.get(actionOf(runId))?.attempts ?? [];
    return tries.filter(({ settled }) => settled !== null).length === 2 &&
      (await pending(runId)).length === 0
      ? true
      : null;
  });
  await (await revoke(runId, way)).record();
}

test.each(cases)('R-034 R-095 R-109 R-121 revoked $where, by $way', async (each) => {
  const { runId, at, verdict } = each;
  const seen = await seenAfter(stage, runId, before.get(runId) as Before);
  const alone = stoppedWith(before.get(runId) as Before);
  expect(alone.file).not.toBeNull();
  const line = 't2.c1 executed under 1';
  const had = {
    entered: ['t1.c1', 't2.c1'],
    effects: [...alone.effects, line],
    lateFacts: at === 'after_result' ? [] : [line],
  };
  expect(seen).toEqual({
    ...alone,
    ...(verdict === null ? had : { refusedSince: [`t2.c1 ${verdict}`] }),
  });
  const arrived = [await stage.sent(runId), (await stage.requests(runId)).length];
  const wanted = at === 'in_call' ? [0, 1] : [1, 0];
  expect(arrived).toEqual(verdict === null ? wanted : [0, 0]);
});

test.each(waits)('R-095 R-109 revoked between try 2 and try 3 of a read, by $way', async (each) => {
  const { runId } = each;
  const seen = await seenAfter(stage, runId, before.get(runId) as Before);
  const alone = stoppedWith(before.get(runId) as Before);
  expect(seen).toEqual({ ...alone, entered: ['t1.c1', 't2.c1'] });
  const reads = await stage.receiver.requests();
  expect(reads.filter(({ key }) => key === runId)).toHaveLength(2);
  expect(await stage.requests(runId)).toEqual([]);
});

test('K-071 what the worker held beside what was revoked is done', async () => {
  for (const runId of HOLDERS) {
    expect(await stage.client.result(runId)).toMatchObject({
      end: { kind: 'completed' },
      effectsCount: 1,
    });
    expect(await stage.sent(runId)).toBe(1);
  }
  for (const { runId } of prefetched) expect(await stage.sent(runId)).toBe(0);
});
