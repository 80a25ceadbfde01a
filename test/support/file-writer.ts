// A writer of files as a process of its own: the product's activity, tools and ledger. It gets its
// calls as lines of JSON, and says in one line how each ended, unless it was killed.

import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { systemClock } from '../../activities/clock.ts';
import { createActivities, createRegistry } from '../../activities/index.ts';
import { createFileTool } from '../../activities/tools/files/create-file.ts';
import { replaceFileTool } from '../../activities/tools/files/replace-file.ts';
import { nodeFiles } from '../../activities/tools/files/system.ts';
import type { PerformCall, PerformReply } from '../../core/activity-calls.ts';
import { limits } from '../../core/limits.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';

export interface WriterSettings {
  readonly root: string;
  readonly ledgerPath: string;
  readonly firstExecutionRunId: string;
}

const settings = JSON.parse(process.env['WRITER_SETTINGS'] ?? '') as WriterSettings;
const { root, ledgerPath, firstExecutionRunId } = settings;
const LF = 0x0a;
const limitsOfTools = {
  startToCloseMs: 60_000,
  heartbeatTimeoutMs: 20_000,
  scheduleToStartMs: 60_000,
};
const ledger = await openSqliteLedger({ path: ledgerPath });
const tools = { create_file: createFileTool({ root }), replace_file: replaceFileTool({ root }) };
const activities = createActivities({
  ledger,
  registry: createRegistry(tools, limitsOfTools),
  model: null,
  scope: { installation: 'shop', namespace: 'default' },
  barrier: {
    describe: async () => ({
      kind: 'describe',
      running: true,
      currentRunId: firstExecutionRunId,
      activity: { state: 'started', paused: false },
      taskPending: false,
      historyLength: 5,
    }),
    history: async () => ({ kind: 'history', completedStarts: [] }),
  },
  signals: { toQuestion: async () => undefined, toRun: async () => undefined },
  clock: systemClock,
  log: { info: () => undefined, warn: () => undefined },
  barrierWaitMs: 200,
  sendWindowMs: limits.sendWindowMs,
  owner: 'writer',
  random: randomUUID,
});

async function perform(call: PerformCall): Promise<string> {
  const environment = new MockActivityEnvironment({
    activityId: call.attemptId,
    workflowExecution: { workflowId: call.runId, runId: firstExecutionRunId },
    startToCloseTimeoutMs: 60_000,
  });
  try {
    const reply: PerformReply = await environment.run(() => activities.performAction(call));
    return `${reply.verdict} ${reply.settled}`;
  } catch (error) {
    return `failed: ${(error as Error).message}`;
  }
}

// The threads that do the work are there before anybody watches them.
await nodeFiles.realPath(root);
process.stdout.write('READY\n');
let rest = Buffer.alloc(0);
for await (const chunk of process.stdin) {
  rest = Buffer.concat([rest, chunk as Buffer]);
  for (let end = rest.indexOf(LF); end !== -1; end = rest.indexOf(LF)) {
    const call = JSON.parse(rest.subarray(0, end).toString('utf8')) as PerformCall;
    rest = rest.subarray(end + 1);
    process.stdout.write(`DONE ${await perform(call)}\n`);
  }
}
