// One stage for the cases from the field: real workers with the tools of `case-tools.ts`, a
// directory for their files, a model service where one is wanted.

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, inject } from 'vitest';
import type { RunHandle } from '../../client/run-start.ts';
import { receiverKeyOf } from '../../core/ids.ts';
import type { Goal } from '../../workflows/messages.ts';
import { type FaultStage, openFaultStage } from './fault-stage.ts';
import { type ModelCalls, type ModelService, startModelService } from './model-service.ts';
import { tempDirOfFile } from './temp-dir.ts';

export const principal = { user: 'ada', workspace: 'w1' };

export interface CaseStage {
  readonly stage: FaultStage;
  readonly model: ModelService;
  readonly temporal: Client;
  readonly directory: string;
  plan(runId: string, steps: readonly object[]): Promise<RunHandle>;
  start(runId: string, goal: Goal): Promise<RunHandle>;
  /** Lines of the gateway's log with this text. */
  sent(text: string): Promise<number>;
  /** Effects of the reference receiver under the action's key. */
  effects(actionId: string): Promise<number>;
  /** Requests that would have an effect, under the action's key; with what was answered. */
  requests(actionId: string): Promise<readonly (string | null)[]>;
  /** Kinds of the run's facts about one action, in order. */
  kinds(runId: string, actionId: string): Promise<readonly string[]>;
}

/** Called outside of the tests of a file; the stage is there once they run. */
export function caseStage(
  calls: ModelCalls,
  settings: Readonly<Record<string, string>> = {},
): () => CaseStage {
  const directory = tempDirOfFile();
  let opened: CaseStage | null = null;
  beforeAll(async () => {
    const { address, namespace } = inject('temporal');
    const model = await startModelService(calls);
    const stage = await openFaultStage(
      { address, namespace, bundlePath: inject('bundlePath') },
      {
        program: 'test/support/case-worker.ts',
        settings: { ...model.settings, CASE_DIRECTORY: directory, ...settings },
      },
    );
    const connection = await Connection.connect({ address });
    await stage.worker();
    opened = of({ stage, model, directory, temporal: new Client({ connection, namespace }) });
  });
  afterAll(async () => {
    await opened?.stage.close();
    await opened?.model.close();
    await opened?.temporal.connection.close();
  });
  return () => {
    if (opened === null) throw new Error('the stage is opened before the tests of its file');
    return opened;
  };
}

type Opened = Pick<CaseStage, 'stage' | 'model' | 'directory' | 'temporal'>;

function of(opened: Opened): CaseStage {
  const { client, receiver, gateway, ledger } = opened.stage;
  const scope = { installation: 'faults', namespace: inject('temporal').namespace };
  const start: CaseStage['start'] = (runId, goal) => client.start(runId, { goal, principal });
  return {
    ...{ ...opened, start },
    plan: (runId, steps) => start(runId, { kind: 'plan', steps } as Goal),
    async sent(text) {
      return (await gateway.log()).filter(({ mail }) => JSON.stringify(mail).includes(text)).length;
    },
    async effects(actionId) {
      const all = await receiver.effects();
      return all.filter(({ key }) => key === receiverKeyOf(scope, actionId)).length;
    },
    async requests(actionId) {
      const all = await receiver.requests();
      return all
        .filter(({ kind, key }) => kind === 'execute' && key === receiverKeyOf(scope, actionId))
        .map(({ answer }) => answer);
    },
    async kinds(runId, actionId) {
      const facts = await ledger.facts(runId, { after: 0, limit: 1_000 });
      return facts.flatMap(({ body }) =>
        'actionId' in body && body.actionId === actionId ? [body.kind] : [],
      );
    },
  };
}
