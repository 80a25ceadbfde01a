import { join } from 'node:path';
import type { Connection } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { createClient } from '../../client/client.ts';
import type { ClientError } from '../../client/errors.ts';
import { main } from '../../client/main.ts';
import type { StartOptions } from '../../client/start-request.ts';
import { ticketOf } from '../../core/authority.ts';
import type { ResolveCommand } from '../../core/commands.ts';
import { clientConfigFrom } from '../../core/config.ts';
import { unknownIdOf } from '../../core/ids.ts';
import { LedgerError } from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import {
  type ClientStage,
  eventually,
  ledgerWith,
  openClientStage,
} from '../support/client-stage.ts';
import { tempDir } from '../support/temp-dir.ts';

const principal = { user: 'ada', workspace: 'w1' };
const plan = (...steps: readonly (readonly [tool: string, text: string])[]): StartOptions => ({
  goal: { kind: 'plan', steps: steps.map(([tool, text]) => ({ tool, input: { text } })) },
  principal,
});
const by = { actor: 'ada', reason: 'the test says so' };
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: ClientError) => error.code ?? error.stack,
  );

let stage: ClientStage;
let runId = '';
let count = 0;

beforeEach(async () => {
  stage = await openClientStage(inject('temporal'), inject('bundlePath'));
  runId = `client-${process.pid}-${count++}`;
});
afterEach(() => stage.close());

async function terminate(workflowId: string): Promise<void> {
  await stage.temporal.workflow.getHandle(workflowId).terminate('the test says so');
}

async function entered(text: string): Promise<void> {
  await eventually(`${text} acts`, async () => stage.notes.get(text) === 1);
}

function losing(method: 'startWorkflowExecution' | 'signalWorkflowExecution') {
  return ({ workflowService }: Connection) => {
    const send = workflowService[method].bind(workflowService) as (r: unknown) => Promise<unknown>;
    let lost = false;
    Object.assign(workflowService, {
      [method]: async (request: unknown) => {
        const reply = await send(request);
        if (lost) return reply;
        lost = true;
        throw Object.assign(new Error('gone'), {
          code: 14,
          details: 'gone',
          metadata: { get: () => [] },
        });
      },
    });
  };
}

describe('start', () => {
  test('R-137 K-053 the reply of a start is lost: the same call gives the one run', async () => {
    await stage.startWorkers();
    const client = await stage.clientWith({ tap: losing('startWorkflowExecution') });
    const start = plan(['note', 'one']);
    const lost = client.start(runId, start);
    await expect(lost).rejects.toThrow(/whether run .+ was started is not known.*same run id/);
    const again = await client.start(runId, start);
    expect(again.how).not.toBe('started');
    expect((await again.result()).end).toEqual({ kind: 'completed' });
    expect(stage.notes.get('one')).toBe(1);
  });

  test('R-022 the same start attaches to the open run, another is refused', async () => {
    await stage.startWorkers();
    const start = plan(['hold', 'one']);
    expect((await stage.client.start(runId, start)).how).toBe('started');
    expect((await stage.client.start(runId, start)).how).toBe('attached');
    const bare = await stage.clientWith({ ledger: null });
    for (const client of [stage.client, bare]) {
      expect(await codeOf(client.start(runId, plan(['hold', 'two'])))).toBe('other_goal');
      const other = { ...start, principal: { ...principal, user: 'bob' } };
      expect(await codeOf(client.start(runId, other))).toBe('other_start');
      const workflow = client.start(runId, { workflow: 'mine' });
      expect(['foreign_workflow', 'other_goal']).toContain(await codeOf(workflow));
    }
    expect(await codeOf(stage.client.resume(runId, by))).toBe('still_open');
    stage.release();
    expect((await stage.client.result(runId)).end).toEqual({ kind: 'completed' });
    expect(stage.notes).toEqual(new Map([['one', 1]]));
  });

  test('R-022 R-059 a start of a closed run returns its recorded end', async () => {
    await stage.startWorkers();
    const start = plan(['note', 'one']);
    const end = await (await stage.client.start(runId, start)).result();
    expect(end.effects.map((line) => line.externalId)).toEqual(['note-one']);
    const bare = await stage.clientWith({ ledger: null });
    for (const client of [stage.client, bare]) {
      const again = await client.start(runId, start);
      expect([again.how, await again.result()]).toEqual(['ended', end]);
      expect(await codeOf(client.start(runId, plan(['note', 'two'])))).toBe('other_goal');
    }
    expect(await codeOf(stage.client.resume(runId, by))).toBe('already_ended');
    expect(stage.notes).toEqual(new Map([['one', 1]]));
  });

  test('an unknown tool is refused by the run, and the client says why', async () => {
    await stage.startWorkers();
    const handle = await stage.client.start(runId, plan(['no_such_tool', 'x']));
    await expect(handle.result()).rejects.toThrow(/was refused: .*no_such_tool/);
    expect(await codeOf(handle.result())).toBe('run_refused');
  });
});

describe('resume', () => {
  test('R-059 a terminated run has no end: start and result ask for resume', async () => {
    await stage.startWorkers();
    const start = plan(['note', 'one'], ['hold', 'two'], ['note', 'three']);
    await stage.client.start(runId, start);
    await entered('two');
    await terminate(runId);
    expect(await codeOf(stage.client.result(runId))).toBe('needs_resume');
    expect(await codeOf(stage.client.start(runId, start))).toBe('needs_resume');
    const bare = await stage.clientWith({ ledger: null });
    expect(await codeOf(bare.result(runId))).toBe('needs_resume');
    expect(await codeOf(bare.resume(runId, by))).toBe('ledger_needed');
    expect((await stage.client.state(runId)).phase).toBe('needs_resume');
    expect((await stage.client.inbox()).needResume).toEqual([runId]);
    stage.release();
    const command = { ...by, id: 'take-over-1' };
    expect((await stage.client.resume(runId, command)).how).toBe('started');
    expect((await stage.client.result(runId)).end).toEqual({ kind: 'completed' });
    expect([...stage.notes.values()]).toEqual([1, 1, 1]);
    const { opened } = await stage.ledger.read(runId);
    expect([opened?.epoch, opened?.claim.ticket]).toEqual([2, ticketOf(runId, 'take-over-1')]);
  });

  test('R-006 R-101 a ledger that never heard of the run takes nothing over', async () => {
    await stage.startWorkers();
    await stage.client.start(runId, plan(['note', 'one'], ['hold', 'two']));
    await entered('two');
    await terminate(runId);
    const path = join(tempDir(), 'ledger.db');
    const other = await openSqliteLedger({ path, create: true });
    const client = await stage.clientWith({ ledger: other });
    expect(await codeOf(client.resume(runId, by))).toBe('refused_by_ledger');
    expect((await other.read(runId)).head.count).toBe(0);
    await other.close();
    stage.release();
    await (await stage.client.resume(runId, by)).result();
    expect([...stage.notes.values()]).toEqual([1, 1]);
  });

  test('R-137 the reply is lost: the same command id attaches, another does not', async () => {
    await stage.client.start(runId, plan(['note', 'one']));
    await terminate(runId);
    const client = await stage.clientWith({ tap: losing('startWorkflowExecution') });
    const command = { ...by, id: 'take-over-1' };
    expect(await codeOf(client.resume(runId, command))).toBe('temporal_unreachable');
    expect((await client.resume(runId, command)).how).toBe('attached');
    expect(await codeOf(client.resume(runId, by))).toBe('still_open');
    await terminate(runId);
  });
});

describe('revoke and cancel', () => {
  test('R-109 the ledger has the revocation before the signal is sent', async () => {
    const order: string[] = [];
    const listening = ledgerWith(stage.ledger, async (look, decide) => {
      const committed = await stage.ledger.transact(look, decide);
      order.push(`ledger, revoked: ${committed.run.revoked}`);
      return committed;
    });
    const tap = ({ workflowService }: Connection) => {
      const send = workflowService.signalWorkflowExecution.bind(workflowService);
      const spied = (...args: Parameters<typeof send>) => {
        order.push('signal');
        return send(...args);
      };
      Object.assign(workflowService, { signalWorkflowExecution: spied });
    };
    const client = await stage.clientWith({ ledger: listening, tap });
    await client.start(runId, plan(['note', 'one']));
    const reply = await client.revoke(runId, { ...by, id: 'r1' });
    expect(order).toEqual(['ledger, revoked: true', 'signal']);
    expect(reply).toMatchObject({ recordedFirst: true, recorded: 'applied', signaled: true });
    const again = await client.revoke(runId, { ...by, id: 'r1' });
    expect(again).toMatchObject({ recordedFirst: true, recorded: 'duplicate' });
    await stage.startWorkers();
    expect((await client.result(runId)).end).toEqual({ kind: 'stopped', reason: 'revoked' });
    expect(stage.notes.size).toBe(0);
  });

  test('R-122 a cancellation, too; a tool that had not begun never does', async () => {
    const { client } = stage;
    await client.start(runId, plan(['note', 'one']));
    const reply = await client.cancel(runId, { ...by, id: 'c1' });
    expect(reply).toMatchObject({ recordedFirst: true, recorded: 'applied', signaled: true });
    expect((await stage.ledger.read(runId)).canceled).toBe(true);
    await stage.startWorkers();
    expect((await client.result(runId)).end).toEqual({ kind: 'stopped', reason: 'canceled' });
    expect(stage.notes.size).toBe(0);
  });

  test('R-109 without a ledger to write the signal goes alone, and is said to', async () => {
    await stage.client.start(runId, plan(['note', 'one']));
    const bare = await stage.clientWith({ ledger: null });
    const alone = await bare.revoke(runId, { ...by, id: 'r1' });
    expect(alone).toMatchObject({ recordedFirst: false, ledgerProblem: null, signaled: true });
    const broken = ledgerWith(stage.ledger, async () => {
      throw new LedgerError('full', 'ledger: the disk is full', { nothingWritten: true });
    });
    const client = await stage.clientWith({ ledger: broken });
    const reply = await client.revoke(runId, { ...by, id: 'r2' });
    expect(reply).toMatchObject({ recordedFirst: false, signaled: true });
    expect(reply.ledgerProblem).toContain('the disk is full');
    await terminate(runId);
    const closed = await stage.client.revoke(runId, { ...by, id: 'r3' });
    expect(closed).toMatchObject({ recordedFirst: true, signaled: false });
    expect(await codeOf(bare.revoke(runId, { ...by, id: 'r4' }))).toBe('ledger_needed');
    for (const each of [stage.client, bare])
      expect(await codeOf(each.revoke(`${runId}-misspelt`, { ...by, id: 'r5' }))).toBe(
        'run_not_found',
      );
    expect((await stage.ledger.read(`${runId}-misspelt`)).head.count).toBe(0);
  });
});

describe('state, questions and answers', () => {
  test('R-134 state, inbox and question need no worker; the answer waits for one', async () => {
    await stage.startWorkers();
    await stage.client.start(runId, plan(['lose', 'one'], ['note', 'two']));
    const actionId = `${runId}.t1.c1`;
    const asked = () => stage.client.inbox().then(({ questions }) => questions);
    await eventually('the question is listed', async () =>
      (await asked()).some((each) => each.actionId === actionId && each.child === 'open'),
    );
    await stage.stopWorkers();
    const view = await stage.client.state(runId);
    expect([view.phase, view.live]).toEqual(['open', null]);
    expect(view.recorded?.actions).toMatchObject([
      { actionId, word: 'unknown', tool: 'lose', attempts: [{ number: 1, state: 'open' }] },
    ]);
    const bare = await stage.clientWith({ ledger: null });
    const question = await bare.question(runId, actionId);
    expect(question?.if_yes).toEqual((await stage.client.question(runId, actionId))?.if_yes);
    if (question === null) throw new Error('there is no question');
    const evidence = { kind: 'receiver_query', source: 'its log' } as const;
    const answer = { ...question.if_yes, ...by, evidence };
    const sent = await bare.resolve(runId, answer);
    expect(sent).toEqual({ actionId, by: 'signal', answer: null });
    await stage.startWorkers();
    const end = await stage.client.result(runId);
    expect([end.end.kind, end.unknownsCount]).toEqual(['completed', 0]);
    const [one] = (await stage.client.state(runId)).recorded?.actions ?? [];
    expect(one).toMatchObject({ word: 'finished', attempts: [{ state: 'resolved' }] });
    expect([...stage.notes]).toEqual([
      ['one', 1],
      ['two', 1],
    ]);
  });

  test('R-134 the question’s workflow is gone: the answer still arrives', async () => {
    await stage.startWorkers();
    await stage.client.start(runId, plan(['lose', 'one']));
    const actionId = `${runId}.t1.c1`;
    await eventually('the question is open', async () => {
      const { questions } = await stage.client.inbox();
      return questions.some((each) => each.actionId === actionId && each.child === 'open');
    });
    const question = await stage.client.question(runId, actionId);
    if (question?.if_yes.verb !== 'confirm_executed') throw new Error('there is no question');
    const stale = await stage.client.resolve(
      runId,
      { ...question.if_yes, ...by, recordVersion: 1, id: 'stale' },
      { by: 'update' },
    );
    const why = expect.stringContaining('look again');
    expect(stale).toMatchObject({ by: 'update', answer: { what: 'rejected', why } });
    // Corrected under the same id it is looked at anew.
    const [retry] = question.more;
    for (const [over, words] of [
      [{}, 'acceptsPossibleDuplicate'],
      [{ recordVersion: 999 }, 'does not exist'],
    ] as const) {
      const command = { ...retry, ...by, ...over } as ResolveCommand;
      const { answer } = await stage.client.resolve(runId, command, { by: 'update' });
      expect(answer?.why).toContain(words);
    }
    await terminate(unknownIdOf(actionId));
    const evidence = { kind: 'human_attestation', source: 'a call' } as const;
    const answer = { ...question.if_yes, ...by, evidence };
    const reply = await stage.client.resolve(runId, answer);
    const inLedger = reply.by === 'ledger';
    // The run opens its question again by itself; then the answer went there.
    expect(inLedger ? reply.answer?.what : 'signal').toBe(inLedger ? 'applied' : 'signal');
    expect((await stage.client.result(runId)).end).toEqual({ kind: 'completed' });
  });
});

describe('what is out of reach', () => {
  const config = (over: Readonly<Record<string, string>>) =>
    clientConfigFrom({ HOLDFAST_ADDRESS: stage.config.address, ...over });

  test('a namespace that is missing, a run that is missing, a ledger that is missing', async () => {
    const elsewhere = await createClient({ config: config({ HOLDFAST_NAMESPACE: 'nowhere' }) });
    await expect(elsewhere.state('a')).rejects.toThrow(/has no namespace "nowhere"/);
    await elsewhere.close();
    expect(await codeOf(stage.client.state(`${runId}-misspelt`))).toBe('run_not_found');
    expect(await codeOf(stage.client.result(`${runId}-misspelt`))).toBe('run_not_found');
    const url = `sqlite:${tempDir()}/gone.db`;
    const noLedger = createClient({ config: config({ HOLDFAST_LEDGER_URL: url }) });
    expect(await codeOf(noLedger)).toBe('missing');
  });

  test('nothing listens: the command line says the address and exits with 4', async () => {
    let said = '';
    const code = await main(['state', 'a', '--address', '127.0.0.1:1'], {
      env: {},
      version: '0',
      out: () => undefined,
      err: (text) => {
        said += text;
      },
      readFile: () => Promise.reject(new Error('no files')),
      readInput: () => Promise.reject(new Error('no input')),
      connect: (given) => createClient({ config: given }),
    });
    expect([code, said]).toEqual([4, expect.stringContaining('127.0.0.1:1 cannot be reached')]);
  });
});
