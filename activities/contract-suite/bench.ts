// What probes work with: orders with keys of their own, sent over a wire of the probe's choice, and
// the count at the receiver.
//
// Owns: the ids, how far time has been moved. Does not own: the endpoint, where it is.
//
// INV-1  No two orders share key, run or input, but by the probe's wish.
// INV-2  What is not to pass unhindered goes over a wire of its own: no other request is touched.

import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { canonicalJson, type Json } from '../../core/digest.ts';
import { actionIdOf, callPosition, type SendToken } from '../../core/ids.ts';
import type { AnyTool } from '../registry.ts';
import type { InquiryAnswer } from '../tool.ts';
import { execute, inquire, type Order, raise } from './calls.ts';
import { type Lane, type Lanes, lanesOf } from './lane.ts';
import { type Sent, sentText } from './sent.ts';
import { type ContractSubject, SubjectError } from './subject.ts';
import type { Treatment } from './wire.ts';

export interface Sending {
  /** Default 1.1. */
  readonly token?: SendToken;
  /** Default: it simply passes. */
  readonly treatment?: Treatment;
}

export interface Running {
  readonly sent: Promise<Sent>;
  isSettled(): boolean;
}

export interface Held {
  /** Lets it arrive so many times; resolves with what the adapter made of the first answer. */
  release(times?: number): Promise<Sent>;
}

export interface Bench {
  readonly subject: ContractSubject;
  /** With the endpoint's own address: for what it declares, not for calls. */
  readonly tool: AnyTool;
  order(like?: Partial<Order>): Order;
  /** Of the author's slow inputs. */
  slowOrder(): Order;
  /** Resolves when the whole request is with the endpoint, or there will be none. */
  start(order: Order): Promise<Running>;
  send(order: Order, sending?: Sending): Promise<Sent>;
  /** Resolves when its request is on its way and kept back. */
  hold(order: Order, token?: SendToken): Promise<Held>;
  /** `unavailable` where the adapter throws. */
  ask(order: Order, token?: SendToken): Promise<InquiryAnswer<Json>>;
  /** The adapter's own fence for the order's run; rejects as the adapter does. */
  fence(order: Order, token: SendToken): Promise<void>;
  /** Effects at the receiver, of all these orders together. */
  count(...orders: readonly Order[]): Promise<number>;
  restart(): Promise<void>;
  passTime(ms: number): Promise<void>;
  /** Takes down every wire that a probe left behind. */
  stop(): Promise<void>;
}

export const FIRST: SendToken = { epoch: 1, number: 1 };
const PASS: Treatment = { kind: 'pass' };
const PATIENCE_MS = 30_000;
const HELD_POLL_MS = 5;
const PRINCIPAL = { user: 'ada', workspace: 'contract-suite' };

export function openBench(subject: ContractSubject): Bench {
  const patienceMs = subject.patienceMs ?? PATIENCE_MS;
  const lanes = lanesOf(subject);
  const orderBook = orderBookOf(subject);
  const { order, now } = orderBook;
  let passing: Promise<Lane> | null = null;
  const pass = async <T>(call: (tool: AnyTool) => Promise<T>): Promise<T> => {
    passing ??= lanes.open(PASS);
    return call((await passing).tool);
  };
  return {
    subject,
    tool: lanes.tool,
    order,
    slowOrder: orderBook.slowOrder,
    start: (of) => started(lanes, (tool) => execute(tool, of, { token: FIRST, patienceMs })),
    send(of, { token = FIRST, treatment } = {}) {
      const call = (tool: AnyTool) => execute(tool, of, { token, patienceMs });
      return treatment === undefined ? pass(call) : through(lanes.open(treatment), call);
    },
    async hold(of, token = FIRST) {
      const lane = await lanes.open({ kind: 'hold' });
      return heldOf(lane, execute(lane.tool, of, { token, patienceMs }));
    },
    ask: (of, token = FIRST) =>
      pass((tool) => inquire(tool, of, { token, patienceMs, now: now() })),
    fence: (of, token) => pass((tool) => raise(tool, of, token)),
    count: (...of) => countOf(subject, of),
    async restart() {
      const address = await subject.restart?.();
      if (address !== undefined) lanes.move(address);
    },
    async passTime(ms) {
      await subject.passTime?.(ms);
      orderBook.move(ms);
    },
    stop: lanes.stop,
  };
}

function orderBookOf(subject: ContractSubject) {
  const installation = randomUUID().slice(0, 8);
  let orders = 0;
  let movedMs = 0;
  const used = new Set<string>();
  const fresh = (input: Json): Json => {
    const text = canonicalJson(input);
    if (used.has(text)) throw new SubjectError(`input() gave ${text} twice; each has to be new`);
    used.add(text);
    return input;
  };
  const now = () => Date.now() + movedMs;
  const order = (like: Partial<Order> = {}): Order => {
    orders += 1;
    const input = fresh(like.input ?? subject.input(orders));
    const runId = like.runId ?? `suite-${installation}-${orders}`;
    const actionId = actionIdOf(runId, callPosition(1, orders));
    return {
      ...{ runId, actionId, receiverKey: `suite-${installation}/default/${actionId}` },
      principal: subject.principals?.[0] ?? PRINCIPAL,
      firstSentAt: now(),
      ...like,
      input,
      open: [],
    };
  };
  const slowOrder = () => {
    const input = subject.slowInput?.(orders + 1);
    return order(input === undefined ? {} : { input });
  };
  const move = (ms: number) => {
    movedMs += ms;
  };
  return { now, order, slowOrder, move };
}

async function through<T>(opening: Promise<Lane>, call: (tool: AnyTool) => Promise<T>): Promise<T> {
  const lane = await opening;
  try {
    return await call(lane.tool);
  } finally {
    await lane.stop();
  }
}

function started(lanes: Lanes, call: (tool: AnyTool) => Promise<Sent>): Promise<Running> {
  return new Promise((resolve, reject) => {
    let isSettled = false;
    const isSent = () => resolve({ sent, isSettled: () => isSettled });
    const sent = through(lanes.open(PASS, isSent), async (tool) => {
      const what = await call(tool);
      isSettled = true;
      return what;
    });
    sent.then(isSent, reject);
  });
}

async function heldOf(lane: Lane, sending: Promise<Sent>): Promise<Held> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  sending.then(over, over);
  while (lane.held().length === 0) {
    if (isOver) {
      await lane.stop();
      throw new SubjectError(
        `no request that may have an effect came by (${sentText(await sending)}); the adapter ` +
          'has to send to the address it is given, and isEffect has to know what counts',
      );
    }
    await wait(HELD_POLL_MS);
  }
  return {
    async release(times = 1) {
      await Promise.all(lane.held().map((held) => held.release(times)));
      const sent = await sending;
      await lane.stop();
      return sent;
    },
  };
}

async function countOf(subject: ContractSubject, orders: readonly Order[]): Promise<number> {
  await wait(subject.effectDelayMs ?? 0);
  let sum = 0;
  for (const { receiverKey, input, principal } of orders) {
    const count = await subject.effects({ receiverKey, input, principal });
    if (!Number.isSafeInteger(count) || count < 0)
      throw new SubjectError(`effects() gave ${count} for ${receiverKey}; it has to be a count`);
    sum += count;
  }
  return sum;
}
