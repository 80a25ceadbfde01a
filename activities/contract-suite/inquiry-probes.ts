// What the answers to a question are worth. "Not executed" is the only one that others act on, and
// so the one that is provoked.

import { setTimeout as wait } from 'node:timers/promises';
import type { Contract } from '../../core/contract.ts';
import type { Json } from '../../core/digest.ts';
import type { InquiryAnswer } from '../tool.ts';
import type { Bench } from './bench.ts';
import type { Order } from './calls.ts';
import { broken, effects, type Finding, held, notChecked, type Probe } from './finding.ts';
import { answerText, type Sent, sentText, shows } from './sent.ts';

/** A replica that lags, or a partition that is missed, answers well now and then. */
const ROUNDS = 5;
const LAG_POLL_MS = 20;
/** How long an answer is waited for where none is promised. */
const LAG_MAX_MS = 5_000;
const instead = { inquiry: 'none' } as const;

export function cannotAsk({ tool }: Bench): string | null {
  return tool.inquire === undefined ? 'the tool cannot inquire' : null;
}

export const inquiryProbes: readonly Probe[] = [
  {
    field: 'inquiry',
    rules: ['R-035', 'R-036'],
    name: 'asked right after an effect, whether its reply was lost or not: executed, the same one',
    run: askedAtOnce,
  },
  {
    field: 'inquiry',
    rules: ['R-036'],
    name: 'asking has no effect, before and after the operation',
    missing: cannotAsk,
    run: asksOnly,
  },
  {
    field: 'inquiry',
    rules: ['R-037', 'R-038', 'A13'],
    name: 'asked while the request is held up: no negative answer that the request then belies',
    missing: cannotAsk,
    run: heldUp,
  },
];

async function askedAtOnce(bench: Bench, { inquiry }: Contract): Promise<Finding> {
  if (bench.tool.inquire === undefined)
    return inquiry === 'none'
      ? notChecked('the tool cannot inquire')
      : broken('the tool has no inquire', instead);
  const isLagging = inquiry !== 'none' && inquiry.consistency === 'lagging';
  const withinMs = isLagging ? inquiry.settleMs : LAG_MAX_MS;
  const isTold = toldBy(await bench.send(bench.order()));
  let slowestMs = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    const order = bench.order();
    const isLost = round % 2 === 1;
    const sent = await bench.send(order, isLost ? { treatment: { kind: 'drop_reply' } } : {});
    const begin = performance.now();
    const first = await bench.ask(order);
    const answer = isTold(first) ? first : await askOn(bench, order, { withinMs, isTold });
    if (!isTold(answer))
      return broken(`${answerText(answer)} ${withinMs} ms after the effect`, instead);
    if (!shows(answer, sent))
      return broken(`sent: ${sentText(sent)}; asked: ${answerText(answer)}`, instead);
    if (answer !== first) slowestMs = Math.max(slowestMs, performance.now() - begin);
  }
  return promptness({ inquiry, slowestMs: Math.ceil(slowestMs) });
}

type IsTold = (answer: InquiryAnswer<Json>) => boolean;

/** What was only accepted is at work for as long as it takes; that it is known is what counts. */
function toldBy(sent: Sent): IsTold {
  const isAccepted = sent.kind === 'done' && sent.settlement.kind === 'accepted';
  const verdicts: readonly string[] = isAccepted ? ['executed', 'processing'] : ['executed'];
  return ({ verdict }) => verdicts.includes(verdict);
}

interface Asking {
  readonly withinMs: number;
  readonly isTold: IsTold;
}

async function askOn(
  bench: Bench,
  order: Order,
  { withinMs, isTold }: Asking,
): Promise<InquiryAnswer<Json>> {
  const begin = performance.now();
  for (;;) {
    const isLast = performance.now() - begin >= withinMs;
    const answer = await bench.ask(order);
    if (isTold(answer) || isLast) return answer;
    await wait(LAG_POLL_MS);
  }
}

function promptness({
  inquiry,
  slowestMs,
}: {
  readonly inquiry: Contract['inquiry'];
  readonly slowestMs: number;
}): Finding {
  const saw = `known, ${slowestMs === 0 ? 'at once' : `after ${slowestMs} ms`}`;
  if (inquiry === 'none' || inquiry.consistency === 'lagging' || slowestMs === 0) return held(saw);
  // Twice what was seen: the slowest of a few rounds is not the slowest there is.
  const settleMs = Math.max(2 * slowestMs, inquiry.settleMs);
  return broken(saw, { inquiry: { ...inquiry, consistency: 'lagging', settleMs } });
}

async function asksOnly(bench: Bench): Promise<Finding> {
  const never = bench.order();
  await bench.ask(never);
  const before = await bench.count(never);
  const order = bench.order();
  await bench.send(order);
  for (let round = 1; round <= ROUNDS; round++) await bench.ask(order);
  const after = await bench.count(order);
  const saw = `asked before: ${effects(before)}; asked ${ROUNDS} times after: ${effects(after)}`;
  return before === 0 && after === 1 ? held(saw) : broken(saw, instead);
}

/** What is answered while the request is on its way, and what then comes of the request. */
export interface Overtaken {
  readonly answer: InquiryAnswer<Json>;
  readonly sent: Sent;
  readonly count: number;
}

export async function overtake(bench: Bench, order: Order, times = 1): Promise<Overtaken> {
  const late = await bench.hold(order);
  const answer = await bench.ask(order);
  const sent = await late.release(times);
  return { answer, sent, count: await bench.count(order) };
}

export function overtakenText({ answer, sent, count }: Overtaken): string {
  return `asked: ${answerText(answer)}; then the request: ${sentText(sent)}, ${effects(count)}`;
}

async function heldUp(bench: Bench, { closing }: Contract): Promise<Finding> {
  const seen = await overtake(bench, bench.order());
  const { answer, count } = seen;
  const saw = overtakenText(seen);
  // A door that was not closed is the closing's lie, where one is declared.
  const isClosing = answer.verdict === 'not_executed' && answer.proof !== 'settled';
  if (isClosing && closing !== 'none') return held(saw);
  const isNegative = answer.verdict === 'not_executed' && count > 0;
  const isPositive = answer.verdict === 'executed' && count === 0;
  const isEarly = answer.verdict === 'executed' || answer.verdict === 'partial';
  return isNegative || isPositive || isEarly ? broken(saw, instead) : held(saw);
}
