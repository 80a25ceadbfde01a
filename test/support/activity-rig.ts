// Activities without a server: a real SQLite ledger, a scripted barrier, a clock and a log of the
// order of things, a tool whose receiver is a function of the test.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { onTestFinished } from 'vitest';
import * as z from 'zod';
import { type Clock, systemClock } from '../../activities/clock.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import {
  createActivities,
  createRegistry,
  defineTool,
  type Tools,
} from '../../activities/index.ts';
import { nonRetryableInterceptor } from '../../activities/interceptor.ts';
import type { Attempt, Inquiry, InquiryAnswer, Settlement } from '../../activities/tool.ts';
import type { OpenRunReply, PerformCall } from '../../core/activity-calls.ts';
import type { DescribeAnswer } from '../../core/barrier.ts';
import type { LateFact } from '../../core/commands.ts';
import { genesisBase } from '../../core/consumes.ts';
import type { Json } from '../../core/digest.ts';
import { actionIdOf, attemptIdOf } from '../../core/ids.ts';
import { limits } from '../../core/limits.ts';
import type { Question } from '../../core/question.ts';
import { thisHost } from '../../ledger/host.ts';
import type { Ledger } from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { tempDir } from './temp-dir.ts';

export const RUN = 'invoice-42';
export const EXECUTION = 'exec-1';

export const wanted: DescribeAnswer = {
  kind: 'describe',
  running: true,
  currentRunId: EXECUTION,
  activity: { state: 'started', paused: false },
  taskPending: false,
  historyLength: 5,
};

export interface Receiver {
  execute: (input: { amount: number; note: string }, attempt: Attempt) => Promise<unknown>;
  inquire: (inquiry: Inquiry) => Promise<InquiryAnswer<Json>>;
}

export interface RigOptions {
  readonly tools?: Tools;
  readonly decorateLedger?: (ledger: Ledger, order: string[]) => Ledger;
  readonly deps?: Partial<ActivityDeps>;
  /** Of a ledger that another rig has, too: two workers, or one after its restart. */
  readonly path?: string;
  /** Of the ledger's machine. */
  readonly ledgerClock?: () => number;
  readonly barrier?: () => DescribeAnswer | { kind: 'no_answer'; why: string };
}

export interface Rig {
  readonly ledger: Ledger;
  /** Of the ledger's file. */
  readonly path: string;
  readonly order: string[];
  readonly receiver: Receiver;
  /** Late signals that were sent. */
  readonly signals: { to: string; fact: LateFact; question: Question | null }[];
  readonly deps: ActivityDeps;
  activities(): ReturnType<typeof createActivities>;
  /** Runs one activity as Temporal would, with the product's interceptor. */
  deliver<T>(activityId: string, run: () => Promise<T>, info?: object): Promise<T>;
  open(over?: object): Promise<Extract<OpenRunReply, { kind: 'open' }>>;
  call(opened: Extract<OpenRunReply, { kind: 'open' }>, over?: Partial<PerformCall>): PerformCall;
  perform(call: PerformCall, info?: object): ReturnType<Activities['performAction']>;
}
type Activities = ReturnType<typeof createActivities>;

/** `never` with an inquiry, defaults in its schema; its receiver is the rig's. */
export function chargeCard(receiver: Receiver) {
  return defineTool({
    name: 'charge_card',
    version: '1',
    description: 'Charges a card.',
    input: z.object({ amount: z.number(), note: z.string().default('none') }),
    implementation: 'charge-card/1',
    receiver: { inquiry: { consistency: 'strong', settleMs: 0 } },
    execute: (input, attempt) => receiver.execute(input, attempt) as Promise<Settlement<Json>>,
    inquire: (inquiry) => receiver.inquire(inquiry),
  });
}

export const defaults = {
  startToCloseMs: 60_000,
  heartbeatTimeoutMs: 20_000,
  scheduleToStartMs: 60_000,
};

export async function activityRig(options: RigOptions = {}): Promise<Rig> {
  const order: string[] = [];
  const path = options.path ?? join(tempDir(), 'ledger.db');
  const host = { ...thisHost, clock: options.ledgerClock ?? thisHost.clock };
  const real = await openSqliteLedger({ path, create: true }, { host });
  onTestFinished(() => real.close());
  const ledger = options.decorateLedger?.(real, order) ?? real;
  const receiver: Receiver = {
    execute: async () => ({ kind: 'executed', result: { ok: true }, externalId: 'ext-1' }),
    inquire: async () => ({ verdict: 'no_record' }),
  };
  const signals: Rig['signals'] = [];
  const deps = depsOf(options, { ledger, receiver, signals });
  const activities = () => createActivities(deps);
  return {
    ...{ ledger, path, order, receiver, signals, deps, activities, deliver },
    async open(over = {}) {
      const call = { ...opening, ...over };
      const info = { workflowExecution: { workflowId: call.runId, runId: EXECUTION } };
      const reply = await deliver('open', () => activities().openRun(call), info);
      if (reply.kind !== 'open') throw new Error(`not open: ${JSON.stringify(reply)}`);
      return reply;
    },
    call: callOf,
    perform: (call, info) => deliver(call.attemptId, () => activities().performAction(call), info),
  };
}

function depsOf(
  options: RigOptions,
  { ledger, receiver, signals }: Pick<Rig, 'ledger' | 'receiver' | 'signals'>,
): ActivityDeps {
  return {
    ledger,
    registry: createRegistry(options.tools ?? { charge_card: chargeCard(receiver) }, defaults),
    model: null,
    scope: { installation: 'shop', namespace: 'default' },
    barrier: {
      describe: async () => options.barrier?.() ?? wanted,
      history: async () => ({ kind: 'history', completedStarts: [] }),
    },
    signals: {
      toQuestion: async (question, fact) => {
        signals.push({ to: 'question', fact, question });
      },
      toRun: async (runId, fact) => {
        signals.push({ to: runId, fact, question: null });
      },
    },
    clock: systemClock,
    log: { info: () => undefined, warn: () => undefined },
    barrierWaitMs: 200,
    sendWindowMs: limits.sendWindowMs,
    owner: 'worker-1',
    random: randomUUID,
    ...options.deps,
  };
}

const silent = new DefaultLogger('ERROR');

function deliver<T>(activityId: string, run: () => Promise<T>, info: object = {}): Promise<T> {
  const environment = new MockActivityEnvironment(
    {
      activityId,
      workflowExecution: { workflowId: RUN, runId: EXECUTION },
      startToCloseTimeoutMs: 60_000,
      ...info,
    },
    { interceptors: [nonRetryableInterceptor], logger: silent },
  );
  return environment.run(run);
}

const opening = {
  runId: RUN,
  goal: { kind: 'plan', steps: [{ tool: 'charge_card', input: { amount: 10 } }] },
  principal: { user: 'ada', workspace: 'w1' },
  tools: null,
  firstExecutionRunId: EXECUTION,
  ticket: null,
  pin: null,
  after: null,
};

const callOf: Rig['call'] = (opened, over = {}) => {
  const position = over.position ?? 't1.c1';
  const actionId = actionIdOf(RUN, position);
  const policy = opened.catalog[0];
  if (policy === undefined) throw new Error('no tool in the catalog');
  return {
    runId: RUN,
    actionId,
    position,
    attemptId: attemptIdOf(actionId, randomUUID()),
    binding: policy.binding,
    replay: policy.replay,
    onUnknown: 'hold',
    input: { kind: 'inline', value: { amount: 10 } },
    consumes: { base: genesisBase(RUN), pairs: [] },
    revisions: opened.authority.revisions,
    epoch: opened.authority.epoch,
    pin: opened.pin,
    wantsValue: true,
    ...over,
  };
};

/** A ledger with its methods bound, to be spread and changed in one place. */
export function portOf(ledger: Ledger): Ledger {
  return {
    identity: ledger.identity,
    transact: (look, decide) => ledger.transact(look, decide),
    read: (runId) => ledger.read(runId),
    facts: (runId, range) => ledger.facts(runId, range),
    payload: (digest) => ledger.payload(digest),
    runs: (limit) => ledger.runs(limit),
    close: () => ledger.close(),
  };
}

/** A clock that stands still until it is moved; sleeping moves it. */
export function handClock(): Clock & { move(ms: number): void } {
  const now = { monotonicMs: 1_000, wallMs: Date.now() };
  const move = (ms: number) => {
    now.monotonicMs += ms;
    now.wallMs += ms;
  };
  return {
    now: () => ({ ...now }),
    move,
    async sleep(ms) {
      move(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** What the failure of an activity says about the attempt. */
export async function failureOfRun(running: Promise<unknown>): Promise<{
  type: unknown;
  nonRetryable: unknown;
  details: unknown;
  message: string;
}> {
  try {
    await running;
  } catch (error) {
    const { type, nonRetryable, details, message } = error as never as {
      type: unknown;
      nonRetryable: unknown;
      details: unknown[];
      message: string;
    };
    return { type, nonRetryable, details: details?.[0], message };
  }
  throw new Error('it did not fail');
}
