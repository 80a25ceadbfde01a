// Whether a closed door is one: for the request that is under way, for its duplicates, over a
// kill, and for which later requests.

import type { Contract } from '../../core/contract.ts';
import type { SendToken } from '../../core/ids.ts';
import type { Bench } from './bench.ts';
import { closedInFlight, closedInTheRace } from './closing-races.ts';
import { broken, effects, type Finding, held, notChecked, type Probe } from './finding.ts';
import { cannotAsk, type Overtaken, overtake, overtakenText } from './inquiry-probes.ts';
import { answerText, sentText } from './sent.ts';

const instead = { closing: 'none' } as const;
const LATER: SendToken = { epoch: 1, number: 2 };

export const closingProbes: readonly Probe[] = [
  {
    field: 'closing',
    rules: ['A13', 'R-038'],
    name: 'the request is held up, closed by an inquiry, and let go: refused, 0 effects',
    run: lateRequest,
  },
  {
    field: 'closing',
    rules: ['A14'],
    name: 'two late duplicates of a closed request: both refused',
    missing: cannotAsk,
    run: lateDuplicates,
  },
  {
    field: 'closing',
    rules: ['A13'],
    name: 'a later token of a closed key: passes by token, is refused by key',
    missing: cannotAsk,
    run: laterToken,
  },
  {
    field: 'closing',
    rules: ['A13'],
    name: 'closed at the same moment as it is sent: the answer is true, whoever wins',
    missing: cannotAsk,
    run: closedInTheRace,
  },
  {
    field: 'closing',
    rules: ['A13', 'A6'],
    name: 'closed while the receiver works on it: processing, or what it came to',
    missing: ({ tool, subject }) => {
      if (tool.inquire === undefined) return 'the tool cannot inquire';
      return subject.slowInput === undefined ? 'slowInput is not given' : null;
    },
    run: closedInFlight,
  },
  {
    field: 'closing',
    rules: ['A14'],
    name: 'the endpoint is killed after the closing: the late request is still refused',
    missing: ({ tool, subject }) => {
      if (tool.inquire === undefined) return 'the tool cannot inquire';
      return subject.restart === undefined ? 'restart is not given' : null;
    },
    run: closedOverAKill,
  },
];

export const agingClosings: readonly Probe[] = [
  {
    field: 'closing',
    rules: ['A14'],
    name: 'a closing lives as long as a key: shortly before, the late request is refused',
    missing: ({ tool, subject }) => {
      if (tool.inquire === undefined) return 'the tool cannot inquire';
      return subject.passTime === undefined ? 'passTime is not given' : null;
    },
    run: closedToTheEnd,
  },
];

function isClosed({ answer }: Pick<Overtaken, 'answer'>): boolean {
  return answer.verdict === 'not_executed' && answer.proof !== 'settled';
}

async function lateRequest(bench: Bench, { closing }: Contract): Promise<Finding> {
  if (bench.tool.inquire === undefined)
    return closing === 'none'
      ? notChecked('the tool cannot inquire')
      : broken('the tool has no inquire', instead);
  const seen = await overtake(bench, bench.order());
  return lateFinding(seen);
}

function lateFinding(seen: Overtaken): Finding {
  const saw = overtakenText(seen);
  if (!isClosed(seen)) return broken(`nothing was closed; ${saw}`, instead);
  return seen.count === 0 && seen.sent.kind !== 'done' ? held(saw) : broken(saw, instead);
}

async function lateDuplicates(bench: Bench): Promise<Finding> {
  const seen = await overtake(bench, bench.order(), 2);
  return lateFinding(seen);
}

async function laterToken(bench: Bench, { closing }: Contract): Promise<Finding> {
  const order = bench.order();
  const answer = await bench.ask(order);
  if (!isClosed({ answer })) return broken(`nothing was closed; ${answerText(answer)}`, instead);
  const later = await bench.send(order, { token: LATER });
  const count = await bench.count(order);
  const stale = await bench.send(order);
  const total = await bench.count(order);
  const saw = `${answerText(answer)}; a later token: ${sentText(later)}, ${effects(count)}`;
  if (total !== count) return broken(`${saw}; then the closed one: ${sentText(stale)}`, instead);
  const found = count === 1 && later.kind === 'done' ? 'by_token' : 'by_key';
  if (count > 1 || (count === 1) !== (later.kind === 'done')) return broken(saw, instead);
  const told = answer.verdict === 'not_executed' ? answer.proof : '';
  const says = told === 'closed_token' ? 'by_token' : 'by_key';
  if (closing !== 'none' && (found !== closing || says !== closing))
    return broken(saw, { closing: found });
  return held(saw);
}

async function closedOverAKill(bench: Bench): Promise<Finding> {
  const order = bench.order();
  const late = await bench.hold(order);
  const answer = await bench.ask(order);
  await bench.restart();
  const sent = await late.release();
  return lateFinding({ answer, sent, count: await bench.count(order) });
}

async function closedToTheEnd(bench: Bench, declared: Contract): Promise<Finding> {
  const { retentionMs, retentionMarginMs } = declared;
  if (retentionMs === 'none') return notChecked('no retention is declared');
  const order = bench.order();
  const late = await bench.hold(order);
  const answer = await bench.ask(order);
  await bench.passTime(Math.max(0, retentionMs - retentionMarginMs - 1));
  const sent = await late.release();
  return lateFinding({ answer, sent, count: await bench.count(order) });
}
