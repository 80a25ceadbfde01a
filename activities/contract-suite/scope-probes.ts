// Whether a key means something else to somebody else.

import type { Bench } from './bench.ts';
import { broken, effects, type Finding, held, type Probe } from './finding.ts';
import { answerText, isSameOutcome, sentText } from './sent.ts';

const instead = { scope: 'none' } as const;

function missing(bench: Bench, broken: ReadonlySet<string>): string | null {
  if (broken.has('identity')) return 'the key is not honoured, whoever sends it';
  return bench.subject.principals?.length === 2 ? null : 'principals names no two of them';
}

function missingInquiry(bench: Bench, broken: ReadonlySet<string>): string | null {
  if (bench.tool.inquire === undefined) return 'the tool cannot inquire';
  return missing(bench, broken);
}

export const scopeProbes: readonly Probe[] = [
  {
    field: 'scope',
    rules: ['A1', 'R-024'],
    name: 'two principals use the same key: two effects, each hears of its own',
    missing,
    run: sameKey,
  },
  {
    field: 'scope',
    rules: ['A1', 'R-024'],
    name: 'somebody else asks about the key: hears nothing of it, and closes nothing of it',
    missing: missingInquiry,
    run: askedByAnother,
  },
];

/** The same key, as somebody else would send it. */
function ofAnother(bench: Bench, order: ReturnType<Bench['order']>) {
  const principal = bench.subject.principals?.[1] ?? order.principal;
  return { ...order, input: bench.order().input, principal };
}

async function sameKey(bench: Bench): Promise<Finding> {
  const order = bench.order();
  const mine = await bench.send(order);
  const other = ofAnother(bench, order);
  const before = await bench.count(order, other);
  const theirs = await bench.send(other);
  const gained = (await bench.count(order, other)) - before;
  const saw = `the same key of another principal: ${effects(gained)}, ${sentText(theirs)}`;
  if (gained < 1 || theirs.kind !== 'done' || isSameOutcome(mine, theirs))
    return broken(saw, instead);
  const again = await bench.send(order, { token: { epoch: 1, number: 2 } });
  if (!isSameOutcome(mine, again))
    return broken(`${saw}; then the first: ${sentText(again)}`, instead);
  return held(saw);
}

async function askedByAnother(bench: Bench): Promise<Finding> {
  const order = bench.order();
  const other = ofAnother(bench, order);
  const late = await bench.hold(order);
  const before = await bench.ask(other);
  const mine = await late.release();
  if (mine.kind !== 'done' || (await bench.count(order)) !== 1)
    return broken(`the question of another principal closed the key: ${sentText(mine)}`, instead);
  const after = await bench.ask(other);
  const saw = `another principal hears ${answerText(before)}, afterwards ${answerText(after)}`;
  return after.verdict === 'executed' || after.verdict === 'partial'
    ? broken(saw, instead)
    : held(saw);
}
