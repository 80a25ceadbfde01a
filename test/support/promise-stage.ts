// A fault stage whose workers reach the reference receiver through a wire that is looked at, with
// the tools of `promise-tools.ts`.

import { afterAll, beforeAll, inject } from 'vitest';
import type { RunHandle } from '../../client/run-start.ts';
import type { Json } from '../../core/digest.ts';
import type { BodyOf, FactKind } from '../../core/facts.ts';
import { receiverKeyOf } from '../../core/ids.ts';
import type { Child } from '../../examples/support-desk/child.ts';
import type { Effect } from '../../receiver/index.ts';
import { type FaultStage, openFaultStage, until } from './fault-stage.ts';
import type { FaultSettings } from './fault-tools.ts';
import { scheduledAttempts } from './history-events.ts';
import { startWireTap, type Wire, type WireTap } from './wire-tap.ts';

/** Until a test gives up; nothing is said about time. */
export const WITHIN_MS = 60_000;
export const principal = { user: 'ada', workspace: 'w1' };
export const who = { actor: 'ann@example.com', reason: 'looked it up' };

export interface Step {
  readonly tool: string;
  readonly input: Json;
  readonly onUnknown?: 'hold' | 'continue';
}

export interface PromiseStage {
  readonly stage: FaultStage;
  readonly tap: WireTap;
  worker(over?: Partial<FaultSettings>): Promise<Child>;
  /** Their actions are `<run id>.t1.c1` and so on. */
  start(runId: string, ...steps: readonly Step[]): Promise<RunHandle>;
  keyOf(actionId: string): string;
  /** What the receiver itself has in its log of effects under the key. */
  effects(actionId: string): Promise<readonly Effect[]>;
  /** Requests for an effect, on the wire. */
  sends(actionId: string): readonly Wire[];
  /** Attempts that Temporal was ever asked for. */
  scheduled(actionId: string): Promise<readonly string[]>;
  bodies<K extends FactKind>(runId: string, kind: K): Promise<BodyOf<K>[]>;
  /** Waits until the run has been told this often that the receiver's answer is `verdict`. */
  answered(runId: string, verdict: string): Promise<true>;
  balance(account: string): Promise<number | undefined>;
}

/** Called outside of the tests of a file; the stage is there once they run. */
export function promiseStage(): () => PromiseStage {
  let opened: PromiseStage | null = null;
  beforeAll(async () => {
    const { address, namespace } = inject('temporal');
    const stage = await openFaultStage(
      { address, namespace, bundlePath: inject('bundlePath') },
      { program: 'test/support/promise-worker.ts' },
    );
    const tap = await startWireTap(stage.receiver.url);
    opened = of(stage, tap, namespace);
    await opened.worker();
  });
  afterAll(async () => {
    await opened?.tap.close();
    await opened?.stage.close();
  });
  return () => {
    if (opened === null) throw new Error('the stage is opened before the tests of its file');
    return opened;
  };
}

function of(stage: FaultStage, tap: WireTap, namespace: string): PromiseStage {
  const { client, receiver, ledger } = stage;
  const keyOf = (actionId: string) =>
    receiverKeyOf({ installation: 'faults', namespace }, actionId);
  const bodies: PromiseStage['bodies'] = async (runId, kind) => {
    const facts = await ledger.facts(runId, { after: 0, limit: 1_000 });
    return facts.map(({ body }) => body).filter((body) => body.kind === kind) as never;
  };
  return {
    ...{ stage, tap, keyOf, bodies },
    worker: (over = {}) => stage.another('all', { receiverUrl: tap.url, ...over }),
    start: (runId, ...steps) =>
      client.start(runId, { goal: { kind: 'plan', steps: [...steps] }, principal }),
    async effects(actionId) {
      return (await receiver.effects()).filter(({ key }) => key === keyOf(actionId));
    },
    sends: (actionId) => tap.wires(actionId).filter(({ kind }) => kind === 'execute'),
    scheduled: (actionId) =>
      scheduledAttempts(inject('temporal'), actionId.split('.')[0] ?? '', actionId),
    answered: (runId, verdict) =>
      until(`an answer "${verdict}" about ${runId}`, WITHIN_MS, async () => {
        const observed = await bodies(runId, 'observation');
        return observed.some((body) => body.verdict === verdict);
      }),
    async balance(account) {
      const { accounts } = (await receiver.objects('credit')) as {
        accounts: { name: string; value: number }[];
      };
      return accounts.find(({ name }) => name === account)?.value;
    },
  };
}
