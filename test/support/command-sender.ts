// Sends drawn commands as raw calls, a few at a time, so that several come with one workflow task.

import type { Client, WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { RawPayload, Sent } from './command-payloads.ts';

const { UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED: COMPLETED } =
  proto.temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;
/** Fewer than the server lets be under way at once as updates of one workflow. */
const LANES = 8;
/** What a validator says, and the words of the SDK around it. */
const ANSWER_CHARS_MAX = 2_500;

export interface Handles {
  readonly run: WorkflowHandle;
  readonly question: WorkflowHandle;
}

/** Returns what is wrong, with the index of each: `first` is that of the first one. */
export async function sendAll(
  client: Client,
  handles: Handles,
  sent: readonly Sent[],
  first: number,
): Promise<readonly string[]> {
  const problems: string[] = [];
  let next = 0;
  const lane = async () => {
    while (next < sent.length) {
      const index = next++;
      const one = sent[index] as Sent;
      const problem = await problemOf(client, handles[one.at].workflowId, one);
      if (problem !== null) problems.push(`payload ${first + index}, ${nameOf(one)}: ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return problems;
}

export function nameOf({ label, by, at, name }: Sent): string {
  return `${label} (${by} ${name.slice(0, 40)} of the ${at})`;
}

async function problemOf(client: Client, workflowId: string, sent: Sent): Promise<string | null> {
  try {
    if (sent.by === 'update') return updateProblem(sent, await update(client, workflowId, sent));
    await client.workflowService.signalWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId },
      signalName: sent.name,
      input: { payloads: sent.payloads().map(wireOf) },
    });
    return null;
  } catch (error) {
    return `it could not be sent: ${String(error).slice(0, 300)}`;
  }
}

interface Answered {
  readonly failure: string | null;
  readonly value: unknown;
}

async function update(client: Client, workflowId: string, sent: Sent): Promise<Answered> {
  const { outcome } = await client.workflowService.updateWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    waitPolicy: { lifecycleStage: COMPLETED },
    request: {
      meta: { updateId: crypto.randomUUID(), identity: 'fuzz' },
      input: { name: sent.name, args: { payloads: sent.payloads().map(wireOf) } },
    },
  });
  const data = outcome?.success?.payloads?.[0]?.data;
  const value = data == null ? null : JSON.parse(Buffer.from(data).toString('utf8'));
  return { failure: outcome?.failure?.message ?? null, value };
}

/** Its sender has to hear what is wrong, in words and not without end. */
function updateProblem({ leaves }: Sent, { failure, value }: Answered): string | null {
  const said = failure ?? whyIn(value);
  if (said === null) return `it was taken: ${JSON.stringify(value).slice(0, 200)}`;
  if (!/\w{2}.*\s\w{2}/s.test(said)) return `nobody can read the answer "${said}"`;
  if (said.length > ANSWER_CHARS_MAX) return `the answer has ${said.length} characters`;
  if (leaves === 'rejection' && failure !== null) return `its validator refused it: ${said}`;
  return null;
}

function whyIn(value: unknown): string | null {
  const { what, why } = (value ?? {}) as { readonly what?: unknown; readonly why?: unknown };
  return what === 'rejected' && typeof why === 'string' ? why : null;
}

function wireOf({ encoding, data }: RawPayload) {
  return { metadata: encoding === null ? {} : { encoding: Buffer.from(encoding) }, data };
}
