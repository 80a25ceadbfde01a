import { describe, expect, test } from 'vitest';
import type { HoldfastClient } from '../../client/client.ts';
import { ClientError, type ClientErrorCode, clientErrorCodes } from '../../client/errors.ts';
import { exitCodes, exitOfError } from '../../client/exit-codes.ts';
import { refusalTypes } from '../../client/run-end.ts';
import { zeroTotal } from '../../core/cost.ts';
import type { End } from '../../core/fact-fields.ts';
import type { RunResult } from '../../core/outcome.ts';
import { type Question, questionOf } from '../../core/question.ts';
import { LedgerError } from '../../ledger/port.ts';
import { workflowFailureTypes } from '../../workflows/failures.ts';
import { ACTION, enter, open, RUN } from '../support/asks.ts';
import { cliPage } from '../support/cli-page.ts';
import { cli } from '../support/cli-run.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

function result(end: End): RunResult {
  return {
    runId: RUN,
    end,
    answer: null,
    effects: [],
    effectsCount: 0,
    unknowns: [],
    unknownsCount: 0,
    lateFacts: [],
    lateFactsCount: 0,
    cost: zeroTotal,
    costText: '0 tokens in 0 requests',
    undone: false,
  };
}

const promised = { level: 'L1', closing: 'none', fencing: 'none' } as const;

function question(): Question {
  const ledger = memoryLedger();
  open(ledger);
  enter(ledger);
  const run = ledger.run(RUN);
  return questionOf(run, run.actions.get(ACTION)!, promised)!;
}

const who = ['--actor', 'ada', '--reason', 'seen'];
const start = ['--goal', 'go', '--user', 'ada', '--workspace', 'w1'];
const ended = (end: End): Partial<HoldfastClient> => ({
  start: async (runId) => ({ runId, how: 'started', result: async () => result(end) }),
  answer: async () => null,
});

describe('exit codes', () => {
  test.each([
    [{ kind: 'completed' }, 0, 'completed'],
    [{ kind: 'stopped', reason: 'revoked' }, 5, 'stopped (revoked)'],
    [
      { kind: 'stopped', reason: 'blocked' },
      5,
      `stopped (blocked); which step was not executed, and why: holdfast state ${RUN}`,
    ],
    [{ kind: 'ended_with_unknown' }, 5, 'ended with unknown'],
  ] as const)('a run that ended as %o is %i and the word is said', async (end, code, word) => {
    const ran = await cli(['run', RUN, ...start, '--wait'], ended(end));
    expect([ran.code, ran.out.split('\n')[0]]).toEqual([code, `run ${RUN}: ${word}`]);
  });

  test.each([
    [['run', RUN], 2],
    [['run', RUN, '--goal', 'go'], 2],
    [['run', RUN, ...start, '--plan', 'p.json'], 2],
    [['run', RUN, '--plan', 'gone.json', '--user', 'ada', '--workspace', 'w1'], 2],
    [['run'], 2],
    [['frobnicate'], 2],
    [[], 2],
    [['state', RUN, 'extra'], 2],
    [['state', RUN, '--frob'], 2],
    [['state', RUN, '--address', 'nowhere'], 2],
    [['revoke', RUN, '--actor', 'ada'], 2],
    [['resolve', 'no-position', '--abandon'], 2],
    [['resolve', ACTION, '--abandon', '--confirm-executed'], 2],
    [['resolve', ACTION, '--evidence', 'x:y'], 2],
    [['resolve', ACTION, '--record-version', '0', '--abandon', ...who], 2],
    [['resolve', ACTION, '--record-version', '2', '--abandon'], 2],
    [['resolve', ACTION, '--record-version', '2', '--abandon', '--coverage', 'x', ...who], 2],
    [['resolve', ACTION, '--record-version', '2', '--confirm-executed', ...who], 2],
    [['resolve', ACTION, '--evidence', 'a:b', '--evidence', 'a:c', '--abandon', ...who], 2],
    [['resolve', ACTION, '--json-command', 'gone.json'], 2],
    [['resolve', ACTION, '--json-command', '-', '--abandon'], 2],
    [['--help'], 0],
    [['--version'], 0],
  ])('%j is refused as usage, sends nothing, and is one object with --json', async (line, code) => {
    const plain = await cli(line, {}, { 'p.json': '{}' });
    expect([plain.code, plain.calls]).toEqual([code, []]);
    if (code === 0) return;
    expect(plain.err).toMatch(/^holdfast: /);
    const json = await cli([...line, '--json']);
    expect(JSON.parse(json.out).error.exit).toBe(code);
    expect(json.err).toBe('');
  });

  test.each([
    [
      ['revoke', RUN, '--actor', 'ada'],
      "'--reason <text>' not specified; see: holdfast revoke --help",
    ],
    [['frobnicate'], "unknown command 'frobnicate'; see: holdfast --help"],
    [['stat', RUN], "unknown command 'stat' (Did you mean state?); see: holdfast --help"],
    [
      ['resolve', ACTION, '--record-version', '2', '--abandon', '--actor', 'ada'],
      `the answer about ${ACTION} is not right: at reason: missing; correct it`,
    ],
  ])('%j is told what is missing, and where the help is', async (line, words) => {
    expect((await cli(line)).err).toContain(words);
  });

  test('every error has a code of the table, and its message reaches the person', async () => {
    const exitOf = (code: ClientErrorCode) =>
      exitCodes[exitOfError(new ClientError(code, ''))].code;
    expect(
      Object.fromEntries(clientErrorCodes.map((code) => [code, exitOf(code)])),
    ).toMatchInlineSnapshot(`
      {
        "already_ended": 3,
        "bad_input": 2,
        "bad_plan": 2,
        "bad_run_id": 2,
        "foreign_workflow": 3,
        "goal_fixed": 3,
        "history_gone": 3,
        "input_too_large": 2,
        "ledger_needed": 3,
        "namespace_missing": 4,
        "needs_resume": 3,
        "not_answered": 4,
        "other_goal": 3,
        "other_start": 3,
        "question_not_found": 7,
        "refused_by_ledger": 3,
        "result_not_readable": 3,
        "run_not_found": 7,
        "run_refused": 3,
        "still_open": 3,
        "temporal_denied": 4,
        "temporal_refused": 3,
        "temporal_unreachable": 4,
      }
    `);
    const failing = (error: Error) => cli(['state', RUN], { state: () => Promise.reject(error) });
    const readOnly = new LedgerError('read_only', 'ledger /l: read-only', { nothingWritten: true });
    expect(await failing(readOnly)).toMatchObject({
      code: 6,
      err: 'holdfast: ledger /l: read-only\n',
    });
    expect(await failing(new TypeError('oops'))).toMatchObject({ code: 1 });
  });

  test('refusals of a run are failures that the run makes', () => {
    expect(workflowFailureTypes).toEqual(expect.arrayContaining([...refusalTypes]));
  });
});

describe('resolve', () => {
  const withQuestion = { question: async () => question(), sent: async () => ({ cents: 990 }) };

  test('R-134 without an answer the question is shown with its record version', async () => {
    const shown = await cli(['resolve', ACTION], withQuestion);
    expect(shown.code).toBe(0);
    expect(shown.out).toContain(`Did charge_card (${ACTION}) take effect at bank?`);
    expect(shown.out).toContain('record version: 2');
    expect(shown.out).toContain('"cents": 990');
    const shownJson = JSON.parse((await cli(['resolve', ACTION, '--json'], withQuestion)).out);
    expect(shownJson).toEqual({ ...question(), sent: { cents: 990 } });
  });

  test('no question is exit 7', async () => {
    const none = { question: async () => null, distinction: async () => null };
    expect((await cli(['resolve', ACTION], none)).code).toBe(7);
    expect((await cli(['resolve', ACTION, '--abandon', ...who], none)).code).toBe(7);
  });

  test('flags become the command that the question offers', async () => {
    const sent = await cli(
      [
        ...['resolve', ACTION, '--confirm-not-executed', ...who, '--coverage', 'attempt 1'],
        ...['--evidence', 'receiver_query: GET /x:y'],
      ],
      {
        ...withQuestion,
        resolve: async () => ({ actionId: ACTION, by: 'signal', answer: null }),
      },
    );
    expect(sent.code).toBe(0);
    expect(sent.calls.at(-1)?.args).toEqual([
      RUN,
      {
        id: question().if_no.id,
        actor: 'ada',
        reason: 'seen',
        actionId: ACTION,
        recordVersion: 2,
        verb: 'confirm_not_executed',
        evidence: { kind: 'receiver_query', source: 'GET /x:y' },
        coverage: 'attempt 1',
        oldRequestCannotArrive: false,
      },
      { by: 'signal' },
    ]);
  });

  test.each([
    ['applied', 0],
    ['duplicate', 0],
    ['rejected', 3],
    ['disputed', 3],
  ] as const)('an answer that was %s is exit %i', async (what, code) => {
    const answer = { ...question().if_yes, actor: 'ada', reason: 'seen' };
    const file = { 'a.json': JSON.stringify(answer) };
    const line = ['resolve', ACTION, '--json-command', 'a.json', '--update'];
    const reply = async () =>
      ({ actionId: ACTION, by: 'update', answer: { what, why: null } }) as const;
    expect((await cli(line, { resolve: reply }, file)).code).toBe(code);
    const other = await cli(['resolve', 'other.t1.c1', ...line.slice(2)], {}, file);
    expect([other.code, other.calls]).toEqual([2, []]);
  });
});

test('R-109 a revocation that the ledger did not get first is said aloud', async () => {
  const told = { signaled: true, answer: null } as const;
  const reply = { runId: RUN, recorded: null, ledgerProblem: null, ...told } as const;
  const line = ['revoke', RUN, ...who];
  const alone = await cli(line, { revoke: async () => ({ ...reply, recordedFirst: false }) });
  expect([alone.code, alone.out]).toEqual([0, expect.stringContaining('not in the ledger first')]);
  const cancel = async () => ({ ...reply, recordedFirst: true, recorded: 'applied' as const });
  const canceled = await cli(['cancel', RUN, ...who], { cancel });
  expect([canceled.code, canceled.out]).toEqual([0, expect.stringContaining('told to stop')]);
  const broken = { ...reply, recordedFirst: false, ledgerProblem: 'ledger /l: full' };
  expect((await cli(line, { revoke: async () => broken })).code).toBe(6);
});

test('text from outside cannot move the cursor or begin a line', async () => {
  const evil = 'x\u001b[2J\r\nrun r: completed\u202e';
  const shown = await cli(['inbox'], {
    inbox: async () => ({
      questions: [
        {
          actionId: ACTION,
          runId: RUN,
          child: 'open',
          question: { ...question(), question: evil },
        },
      ],
      disputed: [{ runId: evil, actionId: evil, question: null, child: 'gone' }],
      approvals: [],
      twins: [],
      exhausted: [{ runId: evil, actionId: evil, why: evil }],
      needResume: [],
      truncated: false,
    }),
  });
  expect(shown.out.split('\n').filter((line) => line.startsWith('run r'))).toEqual([]);
  expect(shown.out).toContain('\\u001b[2J\\u000d\\u000a');
});

test('docs/cli.md is the declared commands (write it anew with vitest -u)', async () => {
  await expect(cliPage()).toMatchFileSnapshot('../../docs/cli.md');
});
