// The network between the workers and one receiver: loses, delays and doubles requests as the play
// has it, by operation and ordinal, so that no arrival order changes what happens to which request.
//
// Owns: what is held. Does not own: the receiver, which may be another process with each request.
// INV-1 A request that is late arrives all the same, once the receiver can be reached.
// INV-2 Nothing is held or under way any more once `releaseAll` has answered.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { aimOf } from '../../receiver/fault.ts';
import type { HttpAnswer } from '../../receiver/problem.ts';
import { type HttpCall, readCall, serve, writeAnswer } from '../../receiver/transport.ts';
import { until } from '../support/fault-stage.ts';
import { moment } from '../support/signal-flood.ts';
import type { AskFault, Operation, RequestFault } from './operations.ts';

/** Together with the way to the receiver well below what a contract states. */
const BRIEF_MS = 1_000;
const SLOW_MS = 700;
const REACH_MS = 30_000;

export interface WireOptions {
  /** Where the receiver is now. */
  readonly to: () => string;
  readonly ops: ReadonlyMap<string, Operation>;
  /** The first request about it is on its way. */
  readonly began: (op: Operation) => void;
}

export interface Wire {
  readonly url: string;
  /** What really happened, by kind. */
  readonly struck: ReadonlyMap<string, number>;
  /** Lets everything go that is held or late; answers when the receiver has answered all of it. */
  releaseAll(): Promise<void>;
  stop(): Promise<void>;
}

interface Passing {
  readonly op: Operation | null;
  readonly kind: 'execute' | 'inquire' | 'close' | 'other';
  readonly url: string;
  readonly call: HttpCall;
  readonly response: ServerResponse;
}

interface Held {
  readonly passing: Passing;
  readonly until: 'told' | 'end';
}

interface State {
  readonly options: WireOptions;
  readonly struck: Map<string, number>;
  readonly seen: Map<string, number>;
  readonly held: Held[];
  readonly underWay: Set<Promise<void>>;
}

export async function startWire(options: WireOptions): Promise<Wire> {
  const state: State = {
    options,
    struck: new Map(),
    seen: new Map(),
    held: [],
    underWay: new Set(),
  };
  const served = await serve((incoming, response) => {
    // Whoever is at the other end is told nothing, as by a network.
    underWay(
      state,
      receive(state, incoming, response).catch(() => void response.destroy()),
    );
  }, 0);
  return {
    url: served.url,
    struck: state.struck,
    async releaseAll() {
      for (const { passing } of state.held.splice(0)) arriveLate(state, passing);
      while (state.underWay.size > 0) await Promise.all(state.underWay);
    },
    stop: () => served.stop(0),
  };
}

async function receive(
  state: State,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const call = await readCall(incoming, response);
  if (call === null) return;
  const aim = aimOf(call);
  const key = aim?.operation === 'send' ? subjectOf(call) : operationOf(aim?.key ?? '');
  const op = state.options.ops.get(key) ?? null;
  const passing: Passing = {
    ...{ op, call, response, kind: aim?.kind ?? 'other' },
    url: incoming.url ?? '/',
  };
  if (op === null) return relay(state, passing);
  if (aim?.kind === 'execute') return strikeRequest(state, passing, op);
  return strikeQuestion(state, passing, op);
}

function subjectOf({ body }: HttpCall): string {
  return String((JSON.parse(body.toString('utf8')) as Record<string, unknown>)['subject']);
}

/** Keys end with the action id, and with an attempt's number where each request has its own. */
function operationOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1).replace(/#.*$/, '');
}

function nth(state: State, what: string): number {
  const before = state.seen.get(what) ?? 0;
  state.seen.set(what, before + 1);
  return before;
}

function count(state: State, what: string): void {
  state.struck.set(what, (state.struck.get(what) ?? 0) + 1);
}

async function strikeRequest(state: State, passing: Passing, op: Operation): Promise<void> {
  const n = nth(state, `request ${op.id}`);
  if (n === 0) state.options.began(op);
  const fault = op.requests[n] ?? null;
  if (fault === null) return relay(state, passing);
  count(state, fault);
  await requestStrikes[fault](state, passing);
}

type StrikeAt = (state: State, passing: Passing) => void | Promise<void>;

const requestStrikes: Record<RequestFault, StrikeAt> = {
  drop_request: (_, { response }) => void response.destroy(),
  async drop_reply(state, passing) {
    await forward(state, passing);
    passing.response.destroy();
  },
  past_the_inquiry(state, passing) {
    state.held.push({ passing, until: 'told' });
    passing.response.destroy();
  },
  at_the_end(state, passing) {
    state.held.push({ passing, until: 'end' });
    passing.response.destroy();
  },
  briefly_late(state, passing) {
    arriveLate(state, passing, BRIEF_MS);
    passing.response.destroy();
  },
  async delivered_twice(state, passing) {
    arriveLate(state, passing);
    await relay(state, passing);
  },
  async again_at_the_end(state, passing) {
    state.held.push({ passing, until: 'end' });
    await relay(state, passing);
  },
  async slow(state, passing) {
    await moment(SLOW_MS);
    await relay(state, passing);
  },
  async bad_gateway(state, passing) {
    await forward(state, passing);
    // As JSON: what it settles is for the table of answers to say, not for whoever reads it.
    writeAnswer(passing.response, { status: 502, headers: {}, body: '{"error":"bad gateway"}' });
  },
};

async function strikeQuestion(state: State, passing: Passing, op: Operation): Promise<void> {
  const fault = op.asks[nth(state, `ask ${op.id}`)] ?? null;
  if (fault === null) return relay(state, passing);
  count(state, fault);
  await askStrikes[fault](state, passing);
}

const NO_RECORD: HttpAnswer = {
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ operation_state: 'no_record' }),
};

const askStrikes: Record<AskFault, StrikeAt> = {
  question_lost: (_, { response }) => void response.destroy(),
  async answer_lost(state, passing) {
    await forward(state, passing);
    passing.response.destroy();
  },
  unavailable: (_, { response }) =>
    writeAnswer(response, { status: 503, headers: {}, body: 'try again later' }),
  lagging_read(state, passing) {
    writeAnswer(passing.response, NO_RECORD);
    letGoAfter(state, passing);
  },
};

async function relay(state: State, passing: Passing): Promise<void> {
  writeAnswer(passing.response, await forward(state, passing));
  letGoAfter(state, passing);
}

/** Somebody has been told something about it: from now on what was held of it arrives. */
function letGoAfter(state: State, { op }: Passing): void {
  for (const held of state.held.filter(
    ({ until, passing }) => until === 'told' && passing.op === op,
  )) {
    state.held.splice(state.held.indexOf(held), 1);
    arriveLate(state, held.passing);
  }
}

function arriveLate(state: State, passing: Passing, afterMs = 0): void {
  underWay(state, arrive(state, passing, afterMs));
}

function underWay(state: State, work: Promise<void>): void {
  const whole = work.finally(() => state.underWay.delete(whole));
  state.underWay.add(whole);
}

async function arrive(state: State, passing: Passing, afterMs: number): Promise<void> {
  await moment(afterMs);
  const attempt = async () => {
    try {
      return String((await forward(state, passing)).status);
    } catch (error) {
      // Killed while it was at it: nobody else will send it again.
      return isUnreached(error) ? null : 'lost';
    }
  };
  const became = await until('the receiver', REACH_MS, attempt).catch(() => 'receiver gone');
  count(state, `late: ${became}`);
}

function isUnreached(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { code?: string } | undefined) : undefined;
  return cause?.code === 'ECONNREFUSED';
}

const OF_THE_HOP = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'transfer-encoding',
]);

async function forward(state: State, { url, call }: Passing): Promise<HttpAnswer> {
  const headers = Object.entries(call.headers).filter(([name]) => !OF_THE_HOP.has(name));
  const response = await fetch(`${state.options.to()}${url}`, {
    method: call.method,
    headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
    ...(call.method === 'GET' ? {} : { body: new Uint8Array(call.body) }),
  });
  const body = await response.text();
  return {
    status: response.status,
    headers: Object.fromEntries([...response.headers].filter(([name]) => !OF_THE_HOP.has(name))),
    body: response.status === 204 ? null : body,
  };
}
