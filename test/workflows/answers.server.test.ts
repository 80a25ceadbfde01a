// Answers as people give them: a first try that is refused, and a record that moved on while they
// looked. Would catch: a question that can no longer be answered from its own page.

import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
import { decideSettlement } from '../../core/settle.ts';
import type { CommandAnswer } from '../../workflows/messages.ts';
import {
  answerTo,
  eventually,
  evidence,
  factsOf,
  inDoubt,
  newRunId,
  startRun,
  workflowStage,
} from '../support/workflow-stage.ts';

const stage = workflowStage();
const yes = { verb: 'confirm_executed', evidence, externalId: 'L-7' } as const;

async function askedRun() {
  stage.behave['post_letter'] = async () => {
    throw new Error('lost');
  };
  const runId = newRunId('answers');
  const goal = { kind: 'plan', steps: [{ tool: 'post_letter', input: { runId } }] };
  const handle = await startRun(stage, runId, goal);
  const action = await inDoubt(stage, runId, 't1.c1');
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  const details = async () => {
    const { currentDetails } = await child.query<{ currentDetails: string }>(
      '__temporal_workflow_metadata',
    );
    return currentDetails;
  };
  return { runId, handle, action, child, details };
}

test('R-134 an answer that the ledger refused is corrected under the same id', async () => {
  const { runId, handle, action, child, details } = await askedRun();
  const id = `${child.workflowId}/${action.recordVersion}/yes`;
  const blank = answerTo(action, { ...yes, id, reason: 'FILL IN' });
  await child.signal('resolve', blank);
  await eventually('it says why', async () =>
    (await details()).includes('**Last answer rejected:** resolve\\: '),
  );
  await child.signal('resolve', { ...blank, reason: 'found it' });
  expect(await handle.result()).toMatchObject({ end: { kind: 'completed' } });
  const kinds = (await factsOf(stage, runId)).map(({ body }) => body.kind);
  expect(kinds.filter((kind) => kind === 'command_rejected').length).toBe(1);
  expect(kinds.filter((kind) => kind === 'resolution').length).toBe(1);
});

test('R-134 D7 where the record moved on, the details say what an answer has to name', async () => {
  const { runId, handle, action, child, details } = await askedRun();
  expect(await details()).not.toContain('moved on');
  const { actionId } = action;
  const attemptId = action.attempts[0]?.attemptId ?? '';
  const late = decideSettlement({
    ...{ actionId, attemptId, outcome: 'accepted', source: 'execution', externalId: 'L-7' },
    ...{ result: null, resultMissing: 'the receiver has not ended it', objectVersion: null },
    ...{ refusal: null, parts: [], calls: [], payloads: [], cost: { kind: 'none' } },
  });
  await stage.ledger.transact({ runId, actionId, attemptId }, late);
  await child.signal('lateFact', { actionId, attemptId, outcomeDigest: null });
  const moved = await eventually('the details follow', async () => {
    const text = await details();
    return text.includes('moved on') ? text : null;
  });
  const block = JSON.parse(/```json\n([^`]+)```/.exec(moved)?.[1] ?? '');
  expect(block.recordVersion).toBeGreaterThan(action.recordVersion);
  expect(block.id).toBe(`${child.workflowId}/${block.recordVersion}/answer`);
  const pasted = answerTo(action, yes);
  const update = (answer: object) =>
    child.executeUpdate<CommandAnswer, [unknown]>('resolve', { args: [answer] });
  await expect(update(pasted)).rejects.toThrow();
  expect(await update({ ...pasted, ...block })).toEqual({ what: 'applied', why: null });
  expect(await handle.result()).toMatchObject({ end: { kind: 'completed' } });
});
