// A wrapper around a handler that loses, delays and holds what passes through it.
//
// Owns: the armed faults, the requests it holds or delays. Does not own: the receiver, which does
// not know that it is wrapped.
//
//   POST   /faults          arm one (see faultSchema)
//   GET    /faults          what is armed, held, passed on
//   DELETE /faults          disarm all
//   POST   /faults/release  let held requests go; answers when the receiver has answered them

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import * as z from 'zod';
import {
  type Aim,
  type ArmedFault,
  aimOf,
  armingProblem,
  faultHits,
  faultSchema,
  spent,
} from './fault.ts';
import { readBody } from './http.ts';
import { receiverLimits } from './limits.ts';
import { type HttpAnswer, httpOfInquiry, json, problem, problemTable } from './problem.ts';
import { type Handler, type HttpCall, readCall, writeAnswer } from './transport.ts';
import { encodeHeaderText, headerNames } from './wire.ts';

export interface FaultOptions {
  readonly handler: Handler;
  /** Loses record and closing of the key, behind the receiver's back. */
  readonly forget?: (operation: string, key: string) => Promise<void>;
  /** Which calls can be hit, where the handler speaks another protocol than the binding's. */
  readonly aimOf?: (call: HttpCall) => Aim | null;
  readonly clock?: () => number;
}

/** A request that reached the receiver only after its caller had been left alone. */
interface PassedOn {
  readonly operation: string;
  readonly key: string;
  readonly status: number;
}

interface Waiting {
  readonly aim: Aim;
  readonly call: HttpCall;
  readonly response: ServerResponse;
}

export interface FaultWrapper {
  readonly listener: RequestListener;
  /** Drops what is held or delayed; for shutdown. */
  abandon(): void;
}

interface Wrapper {
  readonly options: FaultOptions;
  readonly now: () => number;
  readonly armed: ArmedFault[];
  readonly held: Waiting[];
  readonly timers: Set<NodeJS.Timeout>;
  readonly passedOn: PassedOn[];
}

const releaseSchema = z.strictObject({ keyIncludes: z.string().optional() });

export function withFaults(options: FaultOptions): FaultWrapper {
  const now = options.clock ?? Date.now;
  const wrapper: Wrapper = {
    options,
    now,
    armed: [],
    held: [],
    timers: new Set(),
    passedOn: [],
  };
  return {
    listener: (incoming, response) => {
      receive(wrapper, incoming, response).catch((error: unknown) => {
        if (response.destroyed) return;
        writeAnswer(response, problem(problemTable.unknown, String(error)));
      });
    },
    abandon: () => abandon(wrapper),
  };
}

function abandon(wrapper: Wrapper): void {
  for (const timer of wrapper.timers) clearTimeout(timer);
  wrapper.timers.clear();
  for (const { response } of wrapper.held.splice(0)) response.destroy();
}

async function receive(
  wrapper: Wrapper,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const call = await readCall(incoming, response);
  if (call === null) return;
  if (call.path[0] === 'faults') return writeAnswer(response, await control(wrapper, call));
  const aim = (wrapper.options.aimOf ?? aimOf)(call);
  const armed = aim && wrapper.armed.find((fault) => faultHits(fault, aim, call, wrapper.now()));
  if (!armed) return writeAnswer(response, await wrapper.options.handler(call));
  armed.hits += 1;
  armed.keys.push(aim.key);
  await strike(wrapper, armed, { aim, call, response });
}

async function strike(wrapper: Wrapper, armed: ArmedFault, waiting: Waiting): Promise<void> {
  const { handler } = wrapper.options;
  const { aim, call, response } = waiting;
  switch (armed.fault.fault) {
    case 'commit_then_drop_reply':
      await handler(call);
      response.destroy();
      return;
    case 'drop_before_commit':
      response.destroy();
      return;
    case 'delayed_commit':
      delay(wrapper, armed, waiting);
      return;
    case 'hold':
      if (wrapper.held.length >= receiverLimits.requestsHeldMax)
        return writeAnswer(response, problem(problemTable.not_taken, 'too many requests are held'));
      wrapper.held.push(waiting);
      return;
    case 'lagging_reads':
      return writeAnswer(response, httpOfInquiry({ kind: 'no_record' }));
    case 'wrong_account':
      return writeAnswer(response, await handler(asStranger(call)));
    case 'unavailable':
      return writeAnswer(response, problem(problemTable.not_taken, 'armed as unavailable'));
    case 'rate_limited':
      return writeAnswer(response, tooMany);
    case 'forget_key':
      await wrapper.options.forget?.(aim.operation, aim.key);
      return writeAnswer(response, await handler(call));
  }
}

/** As gateways answer it: they know nothing of keys. */
const tooMany: HttpAnswer = { status: 429, headers: { 'Retry-After': '1' }, body: null };

function delay(wrapper: Wrapper, armed: ArmedFault, waiting: Waiting): void {
  if (armed.fault.connection !== 'hold') waiting.response.destroy();
  const timer = setTimeout(() => {
    wrapper.timers.delete(timer);
    void passOn(wrapper, waiting);
  }, armed.fault.delayMs ?? 0);
  wrapper.timers.add(timer);
}

async function passOn(wrapper: Wrapper, { aim, call, response }: Waiting): Promise<number> {
  const answer = await wrapper.options
    .handler(call)
    .catch((error: unknown) => problem(problemTable.unknown, String(error)));
  const { operation, key } = aim;
  wrapper.passedOn.push({ operation, key, status: answer.status });
  writeAnswer(response, answer);
  return answer.status;
}

function asStranger(call: HttpCall): HttpCall {
  const name = headerNames.principal.toLowerCase();
  const stranger = `${String(call.headers[name] ?? '')}${encodeHeaderText('-other')}`;
  return { ...call, headers: { ...call.headers, [name]: stranger } };
}

async function control(wrapper: Wrapper, call: HttpCall): Promise<HttpAnswer> {
  const at = `${call.method} /${call.path.join('/')}`;
  if (at === 'GET /faults') return json(200, report(wrapper));
  if (at === 'DELETE /faults') {
    wrapper.armed.splice(0);
    return json(200, report(wrapper));
  }
  if (at === 'POST /faults') return arm(wrapper, call);
  if (at === 'POST /faults/release') return release(wrapper, call);
  return problem({ ...problemTable.invalid, status: 404 }, `no ${at} here`);
}

function arm(wrapper: Wrapper, call: HttpCall): HttpAnswer {
  const fault = readBody(call.body, faultSchema);
  if (fault.kind === 'invalid') return problem(problemTable.invalid, fault.detail);
  const refusal =
    armingProblem(fault.value, wrapper.armed.length) ??
    (fault.value.fault === 'forget_key' && wrapper.options.forget === undefined
      ? 'this receiver keeps no keys to forget'
      : null);
  if (refusal !== null) return problem(problemTable.invalid, refusal);
  wrapper.armed.push({ fault: fault.value, armedAt: wrapper.now(), hits: 0, keys: [] });
  return json(200, report(wrapper));
}

async function release(wrapper: Wrapper, call: HttpCall): Promise<HttpAnswer> {
  const wanted = readBody(call.body, releaseSchema);
  if (wanted.kind === 'invalid') return problem(problemTable.invalid, wanted.detail);
  const { keyIncludes = '' } = wanted.value;
  const chosen = wrapper.held.filter(({ aim }) => aim.key.includes(keyIncludes));
  for (const waiting of chosen) wrapper.held.splice(wrapper.held.indexOf(waiting), 1);
  const statuses: number[] = [];
  // One after another, in the order they came: the release is as repeatable as the arrival.
  for (const waiting of chosen) statuses.push(await passOn(wrapper, waiting));
  return json(200, { released: chosen.length, statuses });
}

function report(wrapper: Wrapper) {
  return {
    armed: wrapper.armed.map((armed) => ({
      ...armed.fault,
      hits: armed.hits,
      keys: armed.keys,
      spent: spent(armed, wrapper.now()),
    })),
    held: wrapper.held.map(({ aim }) => aim),
    delayed: wrapper.timers.size,
    passedOn: wrapper.passedOn,
  };
}
