// Whether what the receiver keeps of a key lives and dies with the effect: over kills, and for as
// long as was promised.
//
// A kill from outside hits where it hits. That none of them found a gap is no proof that there is
// none; one that did is a proof that there is.

import type { Contract } from '../../core/contract.ts';
import type { Bench } from './bench.ts';
import { broken, effects, type Finding, held, notChecked, type Probe } from './finding.ts';
import { killAtReply, killAtWork } from './kills.ts';
import { isSameOutcome, sentText } from './sent.ts';

const instead = { retentionMs: 'none' } as const;

const noIdentity = 'the key is not honoured, so there is nothing to keep';

function missingRestart({ subject }: Bench, broken: ReadonlySet<string>): string | null {
  if (broken.has('identity')) return noIdentity;
  return subject.restart === undefined ? 'restart is not given' : null;
}

export const recordProbes: readonly Probe[] = [
  {
    field: 'retentionMs',
    rules: ['R-030', 'A4'],
    name: 'killed at the moment of its reply: the key is still known, 1 effect',
    missing: missingRestart,
    run: killAtReply,
  },
  {
    field: 'retentionMs',
    rules: ['R-030', 'A4', 'A8'],
    name: 'killed while the request is at work: record and effect are both there, or neither',
    missing: missingRestart,
    run: killAtWork,
  },
];

export const agingProbes: readonly Probe[] = [
  {
    field: 'retentionMs',
    rules: ['R-027', 'A10'],
    name: 'shortly before the margin is reached the key is still known: 1 effect',
    missing: ({ subject }, broken) => {
      if (broken.has('identity')) return noIdentity;
      return subject.passTime === undefined ? 'passTime is not given' : null;
    },
    run: keptToTheEnd,
  },
];

async function keptToTheEnd(bench: Bench, declared: Contract): Promise<Finding> {
  const { retentionMs, retentionMarginMs } = declared;
  if (retentionMs === 'none') return notChecked('no retention is declared');
  const order = bench.order();
  const first = await bench.send(order);
  if (first.kind !== 'done') return notChecked(`an ordinary request came to ${sentText(first)}`);
  const kept = Math.max(0, retentionMs - retentionMarginMs - 1);
  await bench.passTime(kept);
  const again = await bench.send(order, { token: { epoch: 1, number: 2 } });
  const count = await bench.count(order);
  const saw = `after ${kept} ms: ${effects(count)}, ${sentText(again)}`;
  if (count !== 1 || !isSameOutcome(first, again)) return broken(saw, instead);
  await bench.passTime(retentionMs - kept + retentionMarginMs);
  const late = await bench.send(order, { token: { epoch: 1, number: 3 } });
  // Nobody resends then; what would come of it is worth knowing.
  return held(
    `${saw}; past the retention: ${effects(await bench.count(order))}, ${sentText(late)}`,
  );
}
