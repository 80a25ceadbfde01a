// The two ways in which a run is revoked, and what is to be seen of it afterwards: in the ledger,
// in history, at the receivers and among the files.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FactBody } from '../../core/facts.ts';
import type { Child } from '../../examples/support-desk/child.ts';
import { exportRun } from '../../ledger/export.ts';
import { until } from './fault-stage.ts';
import { type Step, WITHIN_MS, type ZombieStage } from './zombie-stage.ts';

/** By the client: the ledger has it first. By the signal of the Web UI alone: the ledger later. */
export const ways = ['client', 'signal'] as const;
export type Way = (typeof ways)[number];

export const revocation = { id: 'r1', actor: 'ann@example.com', reason: 'the order was withdrawn' };

/** No worker's death has to be noticed: a crowded machine is no reason to give up on anything. */
export const unhurried = {
  HOLDFAST_HEARTBEAT_TIMEOUT_MS: '20000',
  HOLDFAST_BARRIER_WAIT_MS: '20000',
  HOLDFAST_SEND_WINDOW_MS: '60000',
} as const;

export interface Revoking {
  /** The run has told the ledger; `recorder`, who writes for it, stands still right before. */
  told(recorder: Child): Promise<void>;
  /** Lets the ledger hear of it, where it has not yet; returns when it has. */
  record(): Promise<void>;
}

/** By the signal alone nothing but the run itself knows of it before `record`. */
export async function revokeBy(stage: ZombieStage, runId: string, way: Way): Promise<Revoking> {
  const inLedger = async () =>
    void (await until(`the revocation of ${runId} in the ledger`, WITHIN_MS, async () => {
      return (await stage.ledger.read(runId)).revoked;
    }));
  if (way === 'client') {
    const { recordedFirst } = await stage.client.revoke(runId, revocation);
    if (!recordedFirst) throw new Error(`${runId}: the ledger has not heard of it first`);
    return { told: async () => undefined, record: inLedger };
  }
  const goOn = stage.arm({ point: 'before_revoke', about: runId });
  await stage.temporal.workflow.getHandle(runId).signal('revoke', revocation);
  return {
    told: async (recorder) =>
      void (await recorder.line(`REACHED before_revoke ${runId}`, WITHIN_MS)),
    async record() {
      goOn();
      await inLedger();
    },
  };
}

/** The run has handled every signal that it was sent before. */
export async function heard({ temporal }: ZombieStage, runId: string): Promise<void> {
  await until(`${runId} has heard`, WITHIN_MS, async () => {
    const events = await eventsOf(temporal, runId);
    const signaled = events.findLast((event) => event.workflowExecutionSignaledEventAttributes);
    return events.some(
      ({ workflowTaskCompletedEventAttributes: task }) =>
        Number(task?.startedEventId ?? 0) > Number(signaled?.eventId ?? 0),
    );
  });
}

async function eventsOf(temporal: ZombieStage['temporal'], runId: string) {
  return (await temporal.workflow.getHandle(runId).fetchHistory()).events ?? [];
}

export const fileOf = (runId: string) => `${runId}.txt`;

/** A file of its own for each run, so that there is something that could be deleted. */
export const fileStep = (runId: string): Step => ({
  tool: 'create_file',
  input: { path: fileOf(runId), content: `written for ${runId}\n` },
});

export interface Before {
  /** The facts as they are exported, byte for byte. */
  readonly facts: Buffer;
  readonly count: number;
  readonly file: object | null;
}

export async function lookBefore(stage: ZombieStage, runId: string): Promise<Before> {
  const { length } = await stage.facts(runId);
  return {
    facts: await factBytes(stage, runId),
    count: length,
    file: await fileSeen(stage, runId),
  };
}

async function factBytes({ ledger }: ZombieStage, runId: string): Promise<Buffer> {
  const lines: Uint8Array[] = [];
  for await (const line of exportRun(ledger, runId)) lines.push(line);
  return Buffer.concat(lines);
}

/** With its inode and the time of its last change: written anew it would be another one. */
async function fileSeen({ files }: ZombieStage, runId: string): Promise<object | null> {
  const names = await readdir(files);
  if (!names.includes(fileOf(runId))) return null;
  const path = join(files, fileOf(runId));
  const { ino, ctimeNs } = await stat(path, { bigint: true });
  return { bytes: (await readFile(path)).toString('hex'), ino, ctimeNs };
}

/** Everything that a revocation promises, of a run that has ended. */
export async function seenAfter(stage: ZombieStage, runId: string, before: Before) {
  const { end, undone, effects, unknowns, lateFacts } = await stage.client.result(runId);
  const facts = await stage.facts(runId);
  const bodies = facts.map(({ body }) => body);
  const isRevocation = (body: FactBody) =>
    body.kind === 'authority_changed' && body.change === 'revoke';
  const enteredFrom = (index: number) =>
    bodies.slice(index).flatMap((body) => (body.kind === 'attempt_entered' ? [body.position] : []));
  return {
    end,
    undone,
    effects: effects.map(lineOf).toSorted(),
    unknowns: unknowns.map(lineOf).toSorted(),
    lateFacts: lateFacts.map(lineOf).toSorted(),
    // Once each: what was not sent in time may enter again, as long as nobody has revoked it.
    entered: [...new Set(enteredFrom(0))],
    enteredSince: [...enteredFrom(before.count), ...enteredFrom(bodies.findIndex(isRevocation))],
    refusedSince: bodies.slice(before.count).flatMap(refusalIn).toSorted(),
    scheduledSince: await scheduledSince(stage, runId),
    revocations: bodies.filter(isRevocation).length,
    factsKept: (await factBytes(stage, runId))
      .subarray(0, before.facts.length)
      .equals(before.facts),
    file: await fileSeen(stage, runId),
  };
}

function refusalIn(body: FactBody): string[] {
  if (body.kind !== 'attempt_refused') return [];
  return [`${positionIn(body.actionId)} ${body.verdict}`];
}

const positionIn = (actionId: string) => actionId.slice(actionId.indexOf('.') + 1);

function lineOf(line: {
  readonly actionId: string;
  readonly outcome: string;
  readonly authRevision: number;
}): string {
  return `${positionIn(line.actionId)} ${line.outcome} under ${line.authRevision}`;
}

/** What a revoked run looks like whose file was the only effect, and whose file is still there. */
export const stoppedWith = (before: Before) => ({
  end: { kind: 'stopped', reason: 'revoked' },
  undone: false,
  effects: ['t1.c1 executed under 1'],
  unknowns: [] as string[],
  lateFacts: [] as string[],
  entered: ['t1.c1'],
  enteredSince: [] as string[],
  refusedSince: [] as string[],
  scheduledSince: [] as string[],
  revocations: 1,
  factsKept: true,
  file: before.file,
});

/** Attempts whose scheduling stands in history behind the revocation's signal. */
async function scheduledSince({ temporal }: ZombieStage, runId: string): Promise<string[]> {
  const events = await eventsOf(temporal, runId);
  const signaled = events.findIndex(
    ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName === 'revoke',
  );
  if (signaled === -1) return ['it was never signaled'];
  return events
    .slice(signaled)
    .flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === 'performAction' ? [scheduled.activityId ?? ''] : [],
    );
}
