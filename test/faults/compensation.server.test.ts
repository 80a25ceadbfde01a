// Would catch: an effect that is undone by itself, undone twice, undone although nobody knows
// whether it is there or somebody has changed it since; and an undoing that is taken for the effect
// never having been. Counts are the receivers' own.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { viewLines } from '../../client/run-text.ts';
import { receiverKeyOf } from '../../core/ids.ts';
import { caseStage, principal } from '../support/case-stage.ts';
import { answerAs } from '../support/fault-person.ts';
import { asked, until } from '../support/fault-stage.ts';

const WITHIN_MS = 60_000;
const cases = caseStage(() => []);

const notice = (subject: string) => ({
  tool: 'send_notice',
  input: { to: 'lead@example.com', subject, body: 'The printer is offline' },
});
const recall = (actionId: string) => ({ tool: 'recall_notice', input: { notice: actionId } });
const goesOn = { onUnknown: 'continue' } as const;
/** As the gateway has it: by the key of what it takes back. */
const recalled = (actionId: string) => {
  const scope = { installation: 'faults', namespace: 'default' };
  return cases().sent(`recall of ${receiverKeyOf(scope, actionId)}`);
};
const by = (id: string) => ({ id, actor: 'ann@example.com', reason: 'it was the wrong list' });

async function approved(runId: string, position: string): Promise<void> {
  const { client } = cases().stage;
  const actionId = `${runId}.${position}`;
  const { answer } = await until(`${actionId} to approve`, WITHIN_MS, () =>
    client.approval(runId, actionId),
  );
  await client.approve(runId, { ...answer, ...by(answer.id) });
}

async function entryOf(runId: string, position: string) {
  const { actions } = await cases().stage.ledger.read(runId);
  return actions.get(`${runId}.${position}`)?.attempts.at(-1)?.entry;
}

test('R-119 undone by an action of its own that a person approves; the first stays', async () => {
  const { stage, plan, sent } = cases();
  const [original, undoing] = ['undo-1.t1.c1', 'undo-1.t2.c1'];
  const run = await plan('undo-1', [notice('undo-1'), recall(original)]);
  await until(`${undoing} to approve`, WITHIN_MS, () => stage.client.approval('undo-1', undoing));
  expect(await recalled(original)).toBe(0);
  await approved('undo-1', 't2.c1');
  expect(await run.result()).toMatchObject({
    end: { kind: 'completed' },
    effects: [
      { actionId: original, outcome: 'executed', compensation: ['recall_notice'] },
      { actionId: undoing, outcome: 'executed' },
    ],
    undone: false,
  });
  expect([await sent('undo-1"'), await recalled(original)]).toEqual([1, 1]);
  const entry = await entryOf('undo-1', 't2.c1');
  expect(entry?.compensates).toEqual({ actionId: original, objectVersion: null });
  const view = await stage.client.state('undo-1');
  expect(view.recorded?.actions).toMatchObject([
    { actionId: original, word: 'finished', compensation: ['recall_notice'] },
    { actionId: undoing, word: 'finished', compensates: original },
  ]);
  const text = viewLines(view).join('\n');
  expect(text).toContain('could be undone by recall_notice');
  expect(text).toContain(`undoes ${original}`);
});

test('R-120 a run that fails, is revoked or canceled undoes nothing, tells options', async () => {
  const { stage, sent } = cases();
  const { client, receiver } = stage;
  const add = (runId: string) => ({ tool: 'add', input: { counter: runId, delta: 1 } });
  const badInput = { tool: 'publish', input: { title: 'no such field' } };
  const ways = {
    failed: async () => undefined,
    revoked: () => client.revoke('undo-revoked', by('revoke-1')),
    canceled: () => client.cancel('undo-canceled', by('cancel-1')),
  };
  for (const [way, strike] of Object.entries(ways)) {
    const runId = `undo-${way}`;
    const holds = way !== 'failed';
    if (holds) await receiver.arm({ fault: 'hold', keyIncludes: `${runId}.t2.c1` });
    const steps = [notice(runId), holds ? add(runId) : badInput];
    // It has to have the tool: no other run undoes what this one did.
    const tools = ['send_notice', 'recall_notice', 'add', 'publish'];
    const run = await client.start(runId, { goal: { kind: 'plan', steps }, principal, tools });
    if (holds)
      await until('the second step at its receiver', WITHIN_MS, async () => {
        return (await receiver.faults()).held.some(({ key }) => key.includes(runId));
      });
    await strike();
    if (holds) await receiver.release(runId);
    const { end, effects } = await run.result();
    expect([way, end]).toMatchObject([way, { kind: 'stopped' }]);
    expect(effects[0]).toMatchObject({ compensation: ['recall_notice'] });
    expect([await sent(`"${runId}"`), await recalled(`${runId}.t1.c1`)]).toEqual([1, 0]);
  }
});

test('R-119 R-120 D12 what nobody knows of is not undone; a lost undoing is asked', async () => {
  const { stage, plan, sent } = cases();
  const [original, undoing] = ['undo-2.t1.c1', 'undo-2.t2.c1'];
  await stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: '"undo-2"' });
  await stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: 'recall of' });
  const run = await plan('undo-2', [
    { ...notice('undo-2'), ...goesOn },
    { ...recall(original), ...goesOn },
    { ...notice('undo-2 after'), onUnknown: 'hold' },
  ]);
  const question = await asked(stage.client, original);
  expect(question.evidence.compensation).toEqual(['recall_notice']);
  await approved('undo-2', 't2.c1');
  const waitingFor = await until('the undoing waits', WITHIN_MS, async () => {
    const { live } = await stage.client.state('undo-2');
    return live?.waitingFor?.includes('compensates_open') ? live.waitingFor : null;
  });
  expect(waitingFor).toContain(`${undoing}: compensates_open: what became of ${original}`);
  expect([await sent('"undo-2"'), await recalled(original)]).toEqual([1, 0]);

  await answerAs(stage.client, question, 'yes', 'gateway log, line 1');
  const lost = await asked(stage.client, undoing);
  expect(lost.question).toContain(`recall_notice (${undoing})`);
  const named = await until('what the next step waits for', WITHIN_MS, async () => {
    const { live } = await stage.client.state('undo-2');
    return live?.waitingFor?.includes(undoing) ? live.waitingFor : null;
  });
  expect(named).toBe(`undo-2.t3.c1: what becomes of ${undoing}`);
  expect(await recalled(original)).toBe(1);
  await answerAs(stage.client, lost, 'yes', 'gateway log, line 2');
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 3 });
  expect([await sent('"undo-2"'), await recalled(original)]).toEqual([1, 1]);
});

test('R-119 where there was no effect, there is nothing to undo', async () => {
  const { stage, plan } = cases();
  const original = 'undo-3.t1.c1';
  await stage.gateway.arm({ fault: 'drop_before_commit', bodyIncludes: '"undo-3"' });
  const run = await plan('undo-3', [
    { ...notice('undo-3'), ...goesOn },
    { ...recall(original), ...goesOn },
  ]);
  const question = await asked(stage.client, original);
  await answerAs(stage.client, question, 'no', 'gateway log, whole');
  await approved('undo-3', 't2.c1');
  await run.result();
  const { recorded } = await stage.client.state('undo-3');
  expect(recorded?.actions.at(-1)).toMatchObject({
    word: 'not submitted',
    refusal: `nothing_to_compensate: ${original} had no effect`,
  });
  expect(await recalled(original)).toBe(0);
});

test('R-119 an object that somebody has changed since is left as it is', async () => {
  const { directory, plan } = cases();
  const remove = (runId: string) => ({
    ...{ tool: 'remove_file', input: { written: `${runId}.t1.c1`, path: `${runId}.txt` } },
    name: 'remove',
  });
  const write = (runId: string) => ({
    tool: 'create_file',
    input: { path: `${runId}.txt`, content: 'ours' },
  });
  const path = join(directory, 'undo-4.txt');
  const { stage } = cases();
  await stage.receiver.arm({ fault: 'hold', keyIncludes: 'undo-4.t2.c1' });
  const add = { tool: 'add', input: { counter: 'undo-4', delta: 1 } };
  const run = await plan('undo-4', [write('undo-4'), add, remove('undo-4')]);
  await until('the step between', WITHIN_MS, async () => {
    return (await stage.receiver.faults()).held.some(({ key }) => key.includes('undo-4'));
  });
  writeFileSync(path, 'ours, and a line of somebody else');
  await stage.receiver.release('undo-4');
  expect((await run.result()).end).toEqual({ kind: 'stopped', reason: 'blocked' });
  expect(readFileSync(path, 'utf8')).toContain('somebody else');
  const { recorded } = await stage.client.state('undo-4');
  expect(recorded?.actions.at(-1)?.refusal).toMatch(/^object_changed: undo-4.t1.c1 left it at sha/);

  const untouched = await plan('undo-5', [write('undo-5'), remove('undo-5')]);
  expect((await untouched.result()).end).toEqual({ kind: 'completed' });
  expect(() => readFileSync(join(directory, 'undo-5.txt'))).toThrow('ENOENT');
});
