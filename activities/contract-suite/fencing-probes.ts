// Whether a stale send token is refused inside the change itself. A receiver that ignores the
// token, or looks at it before the change, cannot be declared fenced.

import type { SendToken } from '../../core/ids.ts';
import type { Bench } from './bench.ts';
import type { Order } from './calls.ts';
import { broken, effects, type Finding, held, type Probe } from './finding.ts';
import { type Sent, sentText } from './sent.ts';

const AT_ONCE = 10;
const ROUNDS = 3;
const OLD: SendToken = { epoch: 1, number: 1 };
const NEW: SendToken = { epoch: 2, number: 1 };
const instead = { fencing: 'none' } as const;

const noFence = ({ tool }: Bench) => (tool.fence === undefined ? 'the tool has no fence' : null);

export const fencingProbes: readonly Probe[] = [
  {
    field: 'fencing',
    rules: ['R-102', 'B4'],
    name: 'a newer epoch has acted for the run: the stale token is refused, 0 effects',
    run: newerActed,
  },
  {
    field: 'fencing',
    rules: ['B4'],
    name: 'what a newer epoch did for one run holds back no other run',
    run: otherRun,
  },
  {
    field: 'fencing',
    rules: ['R-101', 'B5'],
    name: 'a request is held up, the fence is raised, it is let go: refused, 0 effects',
    missing: noFence,
    run: heldUp,
  },
  {
    field: 'fencing',
    rules: ['B3', 'B5'],
    name: `${AT_ONCE} stale requests at the moment of the fence: none has its effect after it`,
    missing: noFence,
    run: underFire,
  },
  {
    field: 'fencing',
    rules: ['B5'],
    name: 'the endpoint is killed after the fence: the stale token is still refused',
    missing: (bench) =>
      noFence(bench) ?? (bench.subject.restart === undefined ? 'restart is not given' : null),
    run: overAKill,
  },
];

async function newerActed(bench: Bench): Promise<Finding> {
  const first = bench.order();
  const newer = await bench.send(first, { token: NEW });
  if (newer.kind !== 'done') return broken(`epoch 2: ${sentText(newer)}`, instead);
  const stale = bench.order({ runId: first.runId });
  return staleFinding(await bench.send(stale, { token: OLD }), await bench.count(stale));
}

function staleFinding(sent: Sent, count: number): Finding {
  const saw = `the stale token: ${sentText(sent)}, ${effects(count)}`;
  return sent.kind !== 'done' && count === 0 ? held(saw) : broken(saw, instead);
}

async function otherRun(bench: Bench): Promise<Finding> {
  await bench.send(bench.order(), { token: NEW });
  const other = bench.order();
  const sent = await bench.send(other, { token: OLD });
  const saw = `epoch 1 of another run: ${sentText(sent)}, ${effects(await bench.count(other))}`;
  return sent.kind === 'done' ? held(saw) : broken(saw, instead);
}

async function heldUp(bench: Bench): Promise<Finding> {
  const order = bench.order();
  const late = await bench.hold(order, OLD);
  await bench.fence(order, NEW);
  const stale = staleFinding(await late.release(), await bench.count(order));
  if (stale.kind !== 'held') return stale;
  const newer = await bench.send(order, { token: NEW });
  const count = await bench.count(order);
  const saw = `${stale.saw}; the new epoch: ${sentText(newer)}, ${effects(count)}`;
  return newer.kind === 'done' && count === 1 ? held(saw) : broken(saw, instead);
}

async function underFire(bench: Bench): Promise<Finding> {
  const seen: string[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const first = bench.order();
    const { runId } = first;
    const orders: Order[] = Array.from({ length: AT_ONCE }, () => bench.order({ runId }));
    const late = await Promise.all(orders.map((order) => bench.hold(order, OLD)));
    const sent = Promise.all(late.map((one) => one.release()));
    await bench.fence(first, NEW);
    const then = await bench.count(...orders);
    await sent;
    const later = await bench.count(...orders);
    const saw = `${effects(then)} when the fence stood, ${effects(later)} in the end`;
    if (then !== later) return broken(saw, instead);
    seen.push(String(then));
  }
  return held(`no effect after the fence (before it, of ${AT_ONCE}: ${seen.join(', ')})`);
}

async function overAKill(bench: Bench): Promise<Finding> {
  const order = bench.order();
  const late = await bench.hold(order, OLD);
  await bench.fence(order, NEW);
  await bench.restart();
  return staleFinding(await late.release(), await bench.count(order));
}
