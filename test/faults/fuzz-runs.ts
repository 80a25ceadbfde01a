// The runs that are fired at: how each comes to stand where it is fired at, how it is let go, and
// what it has to come to.

import type { WorkflowHandle } from '@temporalio/client';
import { actionIdOf } from '../../core/ids.ts';
import { limits } from '../../core/limits.ts';
import type { Goal } from '../../workflows/messages.ts';
import type { Mix } from '../support/command-payloads.ts';
import { answerTruly } from '../support/fault-person.ts';
import { asked, type FaultStage, until } from '../support/fault-stage.ts';

const WITHIN_MS = 120_000;

export interface FuzzedRun {
  readonly title: string;
  readonly goal: (runId: string) => Goal;
  readonly mix: Omit<Mix, 'about'>;
  /** Whether it has had its first task when it is fired at. */
  readonly worker: 'before' | 'after';
  readonly arm: (stage: FaultStage, runId: string) => Promise<void>;
  /** Until it stands where it is to be fired at. */
  readonly stand: (stage: FaultStage, runId: string) => Promise<unknown>;
  /** A command that takes effect, in the middle of the others. */
  readonly among?: (handle: WorkflowHandle) => Promise<void>;
  readonly letGo: (stage: FaultStage, runId: string) => Promise<unknown>;
  readonly end: string;
  /** Positions that have their effect at the receivers, once each. */
  readonly effects: readonly string[];
}

const add = (runId: string, n: number) => ({
  tool: 'add',
  input: { counter: `${runId}-${n}`, delta: 1 },
});
const adds = (count: number) => (runId: string) => ({
  kind: 'plan' as const,
  steps: Array.from({ length: count }, (_, index) => add(runId, index + 1)),
});
const positions = (count: number) =>
  Array.from({ length: count }, (_, index) => `t${index + 1}.c1`);

const keyOf = (runId: string, position: string) => `/${actionIdOf(runId, position)}`;
const hold = (position: string) => (stage: FaultStage, runId: string) =>
  stage.receiver.arm({ fault: 'hold', keyIncludes: keyOf(runId, position) });
const held = (position: string) => (stage: FaultStage, runId: string) =>
  until(`${runId}.${position} at the receiver`, WITHIN_MS, async () => {
    const { held: all } = await stage.receiver.faults();
    return all.some(({ key }) => key.endsWith(keyOf(runId, position)));
  });
const release = (position: string) => async (stage: FaultStage, runId: string) => {
  await held(position)(stage, runId);
  await stage.receiver.release(keyOf(runId, position));
};
const everywhere = { by: ['signal', 'update'], at: ['run', 'question'], huge: 'with' } as const;
const atRun = { ...everywhere, at: ['run'] } as const;

const atWork = {
  goal: adds(2),
  mix: atRun,
  worker: 'before',
  arm: hold('t1.c1'),
  stand: held('t1.c1'),
  letGo: release('t1.c1'),
} as const;

const subject = (runId: string) => `Notice ${runId}.t1.c1`;

/** In this order: the first is fired at before there is a worker. */
export const fuzzedRuns: readonly FuzzedRun[] = [
  {
    ...atWork,
    title: 'before its first task',
    // All of it comes with one task, which has ten seconds.
    mix: { ...atRun, by: ['signal'], huge: 'without' },
    worker: 'after',
    stand: async () => undefined,
    end: 'completed',
    effects: positions(2),
  },
  { ...atWork, title: 'at work', end: 'completed', effects: positions(2) },
  {
    title: 'asking a person',
    goal: (runId) => ({
      kind: 'plan',
      steps: [
        {
          tool: 'send_notice',
          input: { to: 'lead@example.com', subject: subject(runId), body: 'offline' },
        },
        ...[2, 3].map((n) => add(runId, n)),
      ],
    }),
    mix: everywhere,
    worker: 'before',
    arm: (stage, runId) =>
      stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: subject(runId) }),
    stand: (stage, runId) => asked(stage.client, `${runId}.t1.c1`),
    letGo: (stage, runId) => answerTruly(stage, `${runId}.t1.c1`),
    end: 'completed',
    effects: positions(3),
  },
  {
    title: 'on its way through its steps',
    goal: adds(30),
    mix: atRun,
    worker: 'before',
    arm: hold('t30.c1'),
    stand: (stage, runId) =>
      until(`the first effect of ${runId}`, WITHIN_MS, async () => {
        return (await stage.receiver.effects()).some(({ key }) => key.includes(`/${runId}.`));
      }),
    letGo: release('t30.c1'),
    end: 'completed',
    effects: positions(30),
  },
  {
    ...atWork,
    title: 'revoked among them',
    among: (handle) =>
      handle.signal('revoke', { id: 'stop', actor: 'ann@example.com', reason: 'withdrawn' }),
    end: 'stopped: revoked',
    effects: positions(1),
  },
];

/** Fired at with more than is kept on record. */
export const floodedRun: FuzzedRun = {
  ...atWork,
  title: 'beyond the cap',
  mix: { ...atRun, by: ['signal'], huge: 'without' },
  end: 'completed',
  effects: positions(2),
};
export const FLOOD = limits.rejectedCommandsMax + 150;
