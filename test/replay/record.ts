// npm run record-histories
// Runs each kind of run on an embedded server, with real workers and a receiver process, and writes
// their histories. One that is there stays as it is: only what is missing is written.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LanguageModelV3GenerateResult } from '@ai-sdk/provider';
import { MockLanguageModelV3 } from 'ai/test';
import type { HoldfastClient } from '../../client/client.ts';
import { unknownIdOf } from '../../core/ids.ts';
import { until } from '../support/fault-stage.ts';
import { impatientServer } from '../support/impatient-server.ts';
import { projectRoot } from '../support/project-files.ts';
import { decided } from './decided.ts';
import { historyPath, historyText } from './histories.ts';
import { continued, type Operated, operated } from './operated.ts';
import { openRecorder, type Recorder } from './recorder.ts';

const HELD_MS = 60_000;
const principal = { user: 'ada', workspace: 'shop' };
const ticket = (subject: string) => ({ tool: 'open_ticket', input: { subject } });
const credit = { tool: 'credit', input: { account: 'u7', amount: 10 } };

const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  version: string;
};

await recorded(await openRecorder(scriptedModel()), async (recorder) => {
  await plan(recorder);
  await batch(recorder);
  await revoked(recorder);
  await invoice(recorder);
  for (const each of [...operated, ...decided]) await struck(recorder, each);
});
const SUGGESTED_AFTER = 40;
const impatient = () => impatientServer(SUGGESTED_AFTER);
await recorded(await openRecorder(scriptedModel(), impatient), async (recorder) => {
  for (const each of continued) await struck(recorder, each);
});

async function recorded(
  recorder: Recorder,
  play: (recorder: Recorder) => Promise<void>,
): Promise<void> {
  try {
    await play(recorder);
  } finally {
    await recorder.close();
  }
}

async function struck(recorder: Recorder, operated: Operated): Promise<void> {
  await operated.play(recorder);
  await save(recorder, operated);
}

/** A reply is lost; the question to the receiver settles it, and the plan goes on. */
async function plan(recorder: Recorder): Promise<void> {
  const { client, receiver, temporal } = recorder;
  await receiver.arm({ fault: 'commit_then_drop_reply', operation: 'credit' });
  const goal = { kind: 'plan' as const, steps: [ticket('quote'), credit, ticket('thanks')] };
  await completed(client, 'plan', { goal, principal });
  await save(recorder, {
    workflowId: 'plan',
    workflow: 'agentRun',
    why: 'plan-settled-by-inquiry',
  });
  const question = unknownIdOf('plan.t2.c1');
  await temporal.workflow.getHandle(question).result();
  await save(recorder, {
    workflowId: question,
    workflow: 'unknownAction',
    why: 'settled-by-inquiry',
  });
}

/** Two calls of one reply, then the reply that ends it. */
async function batch(recorder: Recorder): Promise<void> {
  const { client } = recorder;
  const goal = { kind: 'model' as const, instructions: 'Open both tickets.' };
  await completed(client, 'batch', { goal, principal });
  await save(recorder, { workflowId: 'batch', workflow: 'agentRun', why: 'model-batch' });
}

/** Revoked while its first step is on its way; the second is never scheduled. */
async function revoked(recorder: Recorder): Promise<void> {
  const { client, receiver } = recorder;
  await receiver.arm({ fault: 'hold', operation: 'open_ticket' });
  const goal = { kind: 'plan' as const, steps: [ticket('first'), ticket('second')] };
  const run = await client.start('revoked', { goal, principal });
  await until('the first step is held', HELD_MS, async () => {
    const { held } = await receiver.faults();
    return held.length === 1;
  });
  await client.revoke('revoked', { id: 'revoke-1', actor: 'ada', reason: 'wrong customer' });
  await receiver.release();
  const { end } = await run.result();
  if (end.kind !== 'stopped') throw new Error(`the revoked run ended as ${end.kind}`);
  await save(recorder, { workflowId: 'revoked', workflow: 'agentRun', why: 'revoked-in-flight' });
}

/** A user's workflow goes on although nobody knows whether its first step had its effect. */
async function invoice(recorder: Recorder): Promise<void> {
  const { client, receiver } = recorder;
  await receiver.arm({ fault: 'commit_then_drop_reply', operation: 'credit' });
  const input = { title: 'invoice 42', cents: 1_200 };
  const { end } = await (await client.start('invoice-42', { workflow: 'invoice', input })).result();
  if (end.kind !== 'ended_with_unknown') throw new Error(`the invoice ended as ${end.kind}`);
  await save(recorder, {
    workflowId: 'invoice-42',
    workflow: 'invoice',
    why: 'goes-on-with-an-unknown',
  });
}

async function completed(
  client: HoldfastClient,
  runId: string,
  start: Parameters<HoldfastClient['start']>[1],
): Promise<void> {
  const { end } = await (await client.start(runId, start)).result();
  if (end.kind !== 'completed') throw new Error(`run ${runId} ended as ${JSON.stringify(end)}`);
}

type Saved = Omit<Operated, 'play'>;

async function save({ historyOf }: Recorder, saved: Saved): Promise<void> {
  const { workflowId, workflow, why, execution = 'newest' } = saved;
  const name = `${workflow}-${version}-${why}`;
  const isThere = existsSync(historyPath(name));
  if (!isThere)
    writeFileSync(historyPath(name), historyText(await historyOf(workflowId, execution)));
  process.stdout.write(`${isThere ? 'stays ' : 'saved '} ${name}\n`);
}

function scriptedModel() {
  const call = (subject: string) => ({
    type: 'tool-call' as const,
    toolCallId: subject,
    toolName: 'open_ticket',
    input: JSON.stringify({ subject }),
  });
  const contents: LanguageModelV3GenerateResult['content'][] = [
    [call('first'), call('second')],
    [{ type: 'text', text: 'Both are open.' }],
  ];
  return new MockLanguageModelV3({
    doGenerate: async () => {
      const content = contents.shift() ?? [];
      const reason = content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
      const none = { cacheRead: 0, cacheWrite: 0 };
      return {
        content,
        finishReason: { unified: reason, raw: reason },
        usage: {
          inputTokens: { total: 20, noCache: 20, ...none },
          outputTokens: { total: 8, text: 8, reasoning: 0 },
        },
        warnings: [],
      };
    },
  });
}
