// Whether one key means one operation: repeated, at the same moment, with another payload, and
// without the key.

import type { Contract } from '../../core/contract.ts';
import type { Bench } from './bench.ts';
import type { Order } from './calls.ts';
import { broken, effects, type Finding, held, notChecked, type Probe } from './finding.ts';
import { isSameOutcome, type Sent, sentText } from './sent.ts';

const AT_ONCE = 20;
const instead = { identity: 'none' } as const;

export const identityProbes: readonly Probe[] = [
  {
    field: 'identity',
    rules: ['R-028', 'R-032', 'A9'],
    name: 'the reply is lost and the same key is sent again: 1 effect, the first outcome is told',
    run: lostReply,
  },
  {
    field: 'identity',
    rules: ['A4'],
    name: `${AT_ONCE} requests of one key at once: 1 effect, no two answers`,
    run: allAtOnce,
  },
  {
    field: 'identity',
    rules: ['A4'],
    name: 'something on the way delivers a request twice: 1 effect',
    run: deliveredTwice,
  },
  {
    field: 'identity',
    rules: ['A3'],
    name: 'the key comes with another payload: refused, no effect, nothing of the first is told',
    run: otherPayload,
  },
  {
    field: 'identity',
    rules: ['A3'],
    name: 'two payloads of one key at once: one of them at most',
    run: otherPayloadAtOnce,
  },
  {
    field: 'identity',
    rules: ['A12'],
    name: 'something on the way strips the key: the adapter does not call it executed',
    run: keyStripped,
  },
];

async function lostReply(bench: Bench): Promise<Finding> {
  const order = bench.order();
  await bench.send(order, { treatment: { kind: 'drop_reply' } });
  const again = await bench.send(order, { token: { epoch: 1, number: 2 } });
  const third = await bench.send(order, { token: { epoch: 1, number: 3 } });
  return oneOutcome(await bench.count(order), [again, third]);
}

async function allAtOnce(bench: Bench): Promise<Finding> {
  const order = bench.order();
  const all = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, n) =>
      bench.send(order, { token: { epoch: 1, number: n + 1 } }),
    ),
  );
  // "At work, ask again" is an honest answer to the others.
  const told = all.filter(({ kind }) => kind !== 'ambiguous');
  return oneOutcome(await bench.count(order), told.length === 0 ? all : told);
}

async function deliveredTwice(bench: Bench): Promise<Finding> {
  const order = bench.order();
  const sent = await bench.send(order, { treatment: { kind: 'twice' } });
  return oneOutcome(await bench.count(order), [sent]);
}

function oneOutcome(count: number, told: readonly Sent[]): Finding {
  if (count !== 1) return broken(`${effects(count)} of one key`, instead);
  const [first] = told;
  const other = told.find((sent) => first === undefined || !isSameOutcome(first, sent));
  if (first === undefined || first.kind !== 'done')
    return broken(`1 effect, and the answer is ${told.map(sentText).join(', ')}`, instead);
  if (other !== undefined)
    return broken(`one key, two answers: ${sentText(first)} and ${sentText(other)}`, instead);
  return held(`1 effect, and the same answer each time (${sentText(first)})`);
}

async function otherPayload(bench: Bench): Promise<Finding> {
  const order = bench.order();
  const first = await bench.send(order);
  const other = otherOf(bench, order);
  const before = await bench.count(order, other);
  const sent = await bench.send(other, { token: { epoch: 1, number: 2 } });
  const after = await bench.count(order, other);
  if (after !== before) return broken(`another payload had an effect (${sentText(sent)})`, instead);
  if (sent.kind === 'done') {
    const whose = isSameOutcome(first, sent) ? 'the first outcome' : sentText(sent);
    return broken(`another payload had no effect and was told ${whose}`, instead);
  }
  return held(`another payload: no effect, ${sentText(sent)}`);
}

async function otherPayloadAtOnce(bench: Bench): Promise<Finding> {
  const order = bench.order();
  const other = otherOf(bench, order);
  const isCountedByKey = await countsByKey(bench);
  const sent = await Promise.all([
    bench.send(order),
    bench.send(other, { token: { epoch: 1, number: 2 } }),
  ]);
  const count = await (isCountedByKey ? bench.count(order) : bench.count(order, other));
  const told = sent.filter(({ kind }) => kind === 'done').length;
  const saw = `two payloads at once: ${effects(count)}, ${sent.map(sentText).join(' and ')}`;
  return told > 1 || count > 1 ? broken(saw, instead) : held(saw);
}

/** Whether the author's count sees the same effect under the key with another input. */
async function countsByKey(bench: Bench): Promise<boolean> {
  const order = bench.order();
  await bench.send(order);
  return (await bench.count(otherOf(bench, order))) > 0;
}

function otherOf(bench: Bench, order: Order): Order {
  return { ...order, input: bench.order().input };
}

async function keyStripped(bench: Bench, declared: Contract): Promise<Finding> {
  const header = headerOf(declared);
  if (header === null) return notChecked('the key does not travel as "header <name>"');
  const order = bench.order();
  const sent = await bench.send(order, { treatment: { kind: 'strip', header } });
  const count = await bench.count(order);
  const saw = `without ${header}: ${effects(count)}, ${sentText(sent)}`;
  return sent.kind === 'done' ? broken(`${saw}; the adapter does not notice`, instead) : held(saw);
}

function headerOf({ identity }: Contract): string | null {
  if (identity === 'none') return null;
  return /^header ([!#$%&'*+.^_`|~\w-]+)$/i.exec(identity.travelsAs)?.[1] ?? null;
}
