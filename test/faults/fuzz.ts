// Runs that are sent thousands of commands which nobody can read, or which are refused: drawn from
// a seed, of every kind and size, to the run and to its question, several at a time. Played by a
// test and by `npm run fuzz`.
//
// Would catch: a command that fails or sticks a workflow task, gets a run terminated, starts or
// ends anything, or is dropped without a trace.

import { Client, Connection } from '@temporalio/client';
import { actionIdOf, unknownIdOf } from '../../core/ids.ts';
import { drawn } from '../support/command-payloads.ts';
import { sendAll } from '../support/command-sender.ts';
import { type FaultServer, type FaultStage, openFaultStage } from '../support/fault-stage.ts';
import { problemsAtEnd, problemsWhileOpen } from './fuzz-checks.ts';
import type { FuzzedRun } from './fuzz-runs.ts';

export const FUZZ_TITLE = 'R-134 commands that nobody can read stick no run';

const principal = { user: 'ada', workspace: 'w1' };
/** A run is held at its receiver for as long as it is fired at. */
const settings = { HOLDFAST_START_TO_CLOSE_MS: '900000', HOLDFAST_HEARTBEAT_TIMEOUT_MS: '20000' };
/** Pages of a history are as large as what was sent. */
const channelArgs = { 'grpc.max_receive_message_length': -1 };

export interface FuzzStage {
  readonly faults: FaultStage;
  readonly temporal: Client;
  readonly bundlePath: string;
  close(): Promise<void>;
}

export async function openFuzzStage(server: FaultServer): Promise<FuzzStage> {
  const faults = await openFaultStage(server, { settings });
  const connection = await Connection.connect({ address: server.address, channelArgs });
  return {
    faults,
    temporal: new Client({ connection, namespace: server.namespace }),
    bundlePath: server.bundlePath,
    async close() {
      await faults.close();
      await connection.close();
    },
  };
}

export interface Fuzz {
  readonly runId: string;
  readonly seed: number;
  readonly count: number;
}

/** What is wrong; empty when everything holds. */
export async function playFuzz(
  stage: FuzzStage,
  fuzzed: FuzzedRun,
  { runId, seed, count }: Fuzz,
): Promise<readonly string[]> {
  const { faults, temporal } = stage;
  const actionId = actionIdOf(runId, 't1.c1');
  const sent = drawn({ ...fuzzed.mix, about: { runId, actionId } }, { seed, count });
  await fuzzed.arm(faults, runId);
  if (fuzzed.worker === 'before') await faults.worker();
  const run = await faults.client.start(runId, { goal: fuzzed.goal(runId), principal });
  await fuzzed.stand(faults, runId);
  const handles = {
    run: temporal.workflow.getHandle(runId),
    question: temporal.workflow.getHandle(unknownIdOf(actionId)),
  };
  const middle = Math.floor(count / 2);
  const refused = [...(await sendAll(temporal, handles, sent.slice(0, middle), 0))];
  await fuzzed.among?.(handles.run);
  refused.push(...(await sendAll(temporal, handles, sent.slice(middle), middle)));
  await faults.worker();
  const open = await problemsWhileOpen(stage, { runId, sent });
  await fuzzed.letGo(faults, runId);
  await run.result();
  return [...refused, ...open, ...(await problemsAtEnd(stage, { runId, sent }, fuzzed))];
}
