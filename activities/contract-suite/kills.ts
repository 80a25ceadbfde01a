// The endpoint is killed while it works on a request, started again, and asked what it knows.

import { setTimeout as wait } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import type { Order } from './calls.ts';
import { broken, effects, type Finding, held } from './finding.ts';
import { sentText } from './sent.ts';

const KILLS = 6;
const instead = { retentionMs: 'none' } as const;

export async function killAtReply(bench: Bench): Promise<Finding> {
  const order = bench.order();
  const meanwhile = () => bench.restart();
  await bench.send(order, { treatment: { kind: 'drop_reply', meanwhile } });
  const known = await bench.count(order);
  const again = await bench.send(order, { token: { epoch: 1, number: 2 } });
  const count = await bench.count(order);
  const saw = `after the kill ${effects(known)}; sent again: ${effects(count)}, ${sentText(again)}`;
  return known === 1 && count === 1 && again.kind === 'done' ? held(saw) : broken(saw, instead);
}

/** When to kill, counted from when the request is with the endpoint. */
type Moment = (bench: Bench, order: Order, usualMs: number) => Promise<void>;

/** As soon as there is an effect to be seen: its record may be still to come. */
const atTheEffect: Moment = async (bench, order, usualMs) => {
  const deadline = Date.now() + 10 * usualMs + 1_000;
  while (Date.now() < deadline) {
    if ((await bench.subject.effects(order)) > 0) return;
    await wait(0);
  }
};

export async function killAtWork(bench: Bench): Promise<Finding> {
  const usualMs = await usualTime(bench);
  const kills = bench.subject.kills ?? KILLS;
  for (let n = 0; n < kills; n++) {
    // Every other one at the effect; the rest spread over the time a request usually takes.
    const moment: Moment =
      n % 2 === 0 ? atTheEffect : async () => void (await wait((usualMs * n) / kills));
    const saw = await killedAt(bench, moment, usualMs);
    if (saw !== null) return broken(`kill ${n + 1} of ${kills}: ${saw}`, instead);
  }
  return held(`${kills} kills: no key without its effect, no effect without its key`);
}

async function usualTime(bench: Bench): Promise<number> {
  const begin = performance.now();
  await bench.send(bench.order());
  return performance.now() - begin;
}

/** What came out wrong, or null. */
async function killedAt(bench: Bench, moment: Moment, usualMs: number): Promise<string | null> {
  const order = bench.order();
  const running = await bench.start(order);
  await moment(bench, order, usualMs);
  await bench.restart();
  const first = await running.sent;
  const known = await bench.count(order);
  const again = await bench.send(order, { token: { epoch: 1, number: 2 } });
  const count = await bench.count(order);
  const isTwice = count > 1;
  const isLost = count === 0 && (first.kind === 'done' || again.kind === 'done');
  const isForgotten = known === 1 && again.kind === 'declined';
  if (!isTwice && !isLost && !isForgotten) return null;
  const before = `${sentText(first)} and ${effects(known)} at the kill`;
  return `${before}; sent again: ${sentText(again)} and ${effects(count)}`;
}
