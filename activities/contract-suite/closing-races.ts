// A closing and its request at the same time: whoever wins, what is said has to be true.

import type { Bench } from './bench.ts';
import { broken, effects, type Finding, held, notChecked } from './finding.ts';
import { answerText, sentText } from './sent.ts';

const instead = { closing: 'none' } as const;
const ROUNDS = 10;
const IN_FLIGHT_TRIES = 5;

export async function closedInTheRace(bench: Bench): Promise<Finding> {
  const seen = new Map<string, number>();
  for (let round = 1; round <= ROUNDS; round++) {
    const order = bench.order();
    const late = await bench.hold(order);
    // Either may have the start.
    const asking = round % 2 === 0 ? bench.ask(order) : null;
    const sending = late.release();
    const answer = await (asking ?? bench.ask(order));
    const sent = await sending;
    const count = await bench.count(order);
    const isLie =
      (answer.verdict === 'not_executed' && (count > 0 || sent.kind === 'done')) ||
      (answer.verdict === 'executed' && count !== 1);
    if (isLie)
      return broken(`${answerText(answer)}; ${sentText(sent)}, ${effects(count)}`, instead);
    seen.set(answer.verdict, (seen.get(answer.verdict) ?? 0) + 1);
  }
  const told = [...seen].map(([verdict, times]) => `${verdict} ${times} times`);
  return held(`${ROUNDS} races, no lie: ${told.join(', ')}`);
}

/** The closing may come first; then the request never gets to work, and another is tried. */
export async function closedInFlight(bench: Bench): Promise<Finding> {
  for (let tries = 1; tries <= IN_FLIGHT_TRIES; tries++) {
    const finding = await askedInFlight(bench);
    if (finding !== null) return finding;
  }
  return notChecked(`${IN_FLIGHT_TRIES} times the request was not at work when it was closed`);
}

async function askedInFlight(bench: Bench): Promise<Finding | null> {
  const order = bench.slowOrder();
  const running = await bench.start(order);
  const wasAtWork = !running.isSettled();
  const answer = await bench.ask(order);
  const sent = await running.sent;
  const count = await bench.count(order);
  const saw = `asked: ${answerText(answer)}; then ${sentText(sent)}, ${effects(count)}`;
  if (answer.verdict === 'not_executed' && count > 0) return broken(saw, instead);
  // A closing may also wait for the request, and then tell what it came to.
  const isTrue = answer.verdict === 'processing' || (answer.verdict === 'executed' && count === 1);
  return wasAtWork && isTrue ? held(saw) : null;
}
