// The commands that change what a run may do, on the command line: what a person writes becomes the
// one JSON argument that is documented, and nothing half-read is sent.

import { describe, expect, test } from 'vitest';
import { approvalAsked } from '../../client/approvals.ts';
import type { AuthorityReply } from '../../client/authority.ts';
import type { HoldfastClient } from '../../client/client.ts';
import type { GivenCommand } from '../../core/authority.ts';
import { authorityCommands } from '../../core/commands.ts';
import { ACTION, enter, open, RUN } from '../support/asks.ts';
import { cli } from '../support/cli-run.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const who = ['--actor', 'ada', '--reason', 'seen'];
const said = { id: 'c1', actor: 'ada', reason: 'seen' };
const reply: AuthorityReply = {
  runId: RUN,
  recordedFirst: true,
  recorded: 'applied',
  ledgerProblem: null,
  signaled: true,
  answer: null,
};

/** What an action that needs an approval asks for. */
function question() {
  const ledger = memoryLedger();
  open(ledger);
  enter(ledger, { approval: { validForMs: null } });
  const run = ledger.run(RUN);
  return approvalAsked(run, run.actions.get(ACTION)!, ledger.now)!;
}

const plan = JSON.stringify({ steps: [{ tool: 'note', input: { text: 'x' } }] });
const { bound } = question().answer;

const given: readonly (readonly [line: string[], GivenCommand])[] = [
  [['revoke', RUN, ...who], { verb: 'revoke', command: said }],
  [
    ['revoke', RUN, ...who, '--keep', 'query'],
    { verb: 'revoke', command: { ...said, keep: ['query'] } },
  ],
  [['cancel', RUN, ...who], { verb: 'cancel', command: said }],
  [
    ['amend', RUN, ...who, '--goal', 'be brief'],
    { verb: 'amend', command: { ...said, goal: { kind: 'model', instructions: 'be brief' } } },
  ],
  [
    ['amend', RUN, ...who, '--plan', 'p.json', '--grant', 'read', 'query'],
    {
      verb: 'amend',
      command: {
        ...said,
        goal: { kind: 'plan', steps: [{ tool: 'note', input: { text: 'x' } }] },
        grants: ['read', 'query'],
      },
    },
  ],
  [['amend', RUN, ...who, '--grant', 'none'], { verb: 'amend', command: { ...said, grants: [] } }],
  [
    ['top-up', RUN, ...who, '--requests', '5', '--tokens', '900'],
    { verb: 'topUp', command: { ...said, requests: 5, tokens: 900 } },
  ],
  [
    ['top-up', RUN, ...who, '--money', '1.5', '--wall-time', '2h'],
    { verb: 'topUp', command: { ...said, micros: 1_500_000, wallTimeMs: 7_200_000 } },
  ],
  [
    ['approve', ACTION, ...who, '--bound', bound],
    { verb: 'approve', command: { ...said, actionId: ACTION, bound } },
  ],
  [['deny', ACTION, ...who], { verb: 'deny', command: { ...said, actionId: ACTION, bound } }],
];

test.each(given)('%j is the command that is sent', async (line, { verb, command }) => {
  const fake: Partial<HoldfastClient> = {
    approval: async () => question(),
    [verb]: async () => reply,
  };
  const ran = await cli([...line, '--id', 'c1'], fake, { 'p.json': plan });
  expect([ran.code, ran.err]).toEqual([0, '']);
  expect(ran.calls.at(-1)).toEqual({ name: verb, args: [RUN, command, { by: 'signal' }] });
  expect(authorityCommands[verb].parse(command)).toEqual(command);
});

test.each([
  [['amend', RUN, ...who]],
  [['amend', RUN, ...who, '--goal', 'x', '--plan', 'p.json']],
  [['amend', RUN, ...who, '--plan', 'gone.json']],
  [['amend', RUN, ...who, '--grant', 'everything']],
  [['amend', RUN, ...who, '--grant', 'none', 'read']],
  [['revoke', RUN, ...who, '--keep', 'effect']],
  [['top-up', RUN, ...who]],
  [['top-up', RUN, ...who, '--requests', '0']],
  [['top-up', RUN, ...who, '--requests', '1.5']],
  [['top-up', RUN, ...who, '--requests', '1e3']],
  [['top-up', RUN, ...who, '--tokens', '9007199254740993']],
  [['top-up', RUN, ...who, '--money', '0']],
  [['top-up', RUN, ...who, '--money', '-1']],
  [['top-up', RUN, ...who, '--money', 'USD 1']],
  [['top-up', RUN, ...who, '--money', '1,50']],
  [['top-up', RUN, ...who, '--money', '0.0000001']],
  [['top-up', RUN, ...who, '--wall-time', '2']],
  [['top-up', RUN, ...who, '--wall-time', '1.5h']],
  [['approve', 'no-position', ...who]],
  [['run', RUN, '--goal', 'x', '--user', 'u', '--workspace', 'w', '--on-exhausted', 'end']],
  [['run', RUN, '--goal', 'x', '--user', 'u', '--workspace', 'w', '--budget-money', '1']],
  [['resume', RUN, ...who, '--budget-requests', '5']],
])('%j is refused as usage and sends nothing', async (line) => {
  const ran = await cli(line, {}, { 'p.json': plan });
  expect([ran.code, ran.calls]).toEqual([2, []]);
  expect(ran.err).toMatch(/^holdfast: /);
});

test.each([
  [['approve', ACTION, '--actor', 'ada'], 'at reason: missing'],
  [['deny', ACTION, '--reason', 'no'], 'at actor: missing'],
  [['approve', ACTION, ...who, '--bound', 'abc'], 'at bound:'],
])('%j is told what is missing, and sends nothing', async (line, words) => {
  const ran = await cli(line, { approval: async () => question() });
  expect([ran.code, ran.calls.map(({ name }) => name)]).toEqual([2, ['approval']]);
  expect(ran.err).toContain(words);
});

describe('approve and deny', () => {
  const asked: Partial<HoldfastClient> = {
    approval: async () => question(),
    sent: async () => ({ cents: 990 }),
  };

  test.each(['approve', 'deny'])('%s without --actor shows what is asked', async (verb) => {
    const shown = await cli([verb, ACTION], asked);
    expect(shown.code).toBe(0);
    for (const words of [
      `May charge_card (${ACTION}) go ahead?`,
      '"cents": 990',
      `bound: ${bound}`,
      `"bound": "${bound}"`,
      'goal revision 1, authority revision 1',
    ])
      expect(shown.out).toContain(words);
    const json = JSON.parse((await cli([verb, ACTION, '--json'], asked)).out);
    expect(json).toEqual({ ...question(), sent: { cents: 990 } });
  });

  test('where nothing waits it is exit 7, unless the person names what was looked at', async () => {
    const none = { approval: async () => null, approve: async () => reply };
    expect((await cli(['approve', ACTION], none)).code).toBe(7);
    expect((await cli(['approve', ACTION, ...who], none)).code).toBe(7);
    expect((await cli(['approve', ACTION, ...who, '--bound', bound], none)).code).toBe(0);
  });
});

describe('what became of it', () => {
  const line = ['top-up', RUN, ...who, '--requests', '5'];
  const told = async (over: Partial<AuthorityReply>) =>
    cli(line, { topUp: async () => ({ ...reply, ...over }) });

  test.each([
    [{}, 0, 'in the ledger (applied) before the run was told'],
    [{ signaled: false }, 0, 'its workflow is not open'],
    [{ recorded: 'duplicate' }, 0, 'was recorded before, so nothing changes'],
    [{ recordedFirst: false, recorded: null }, 0, 'not in the ledger first'],
    [{ recordedFirst: false, recorded: null, ledgerProblem: 'full' }, 6, 'ledger first: full'],
    [{ answer: { what: 'duplicate', why: null } }, 0, 'the run answers: duplicate'],
    [{ answer: { what: 'rejected', why: 'too late' } }, 3, 'the run answers: rejected: too late'],
  ] as const)('%j is exit %i and says so', async (over, code, words) => {
    const ran = await told(over);
    expect([ran.code, ran.out]).toEqual([code, expect.stringContaining(words)]);
  });

  test('R-134 an approval under the id of a denial is not said to be one', async () => {
    const said: AuthorityReply = { ...reply, recorded: 'duplicate' };
    const ran = await cli(['approve', ACTION, ...who], {
      approval: async () => question(),
      approve: async () => said,
    });
    expect(ran.out).toContain('nothing changes');
    expect(ran.out).not.toContain('is approved');
  });

  test('--update waits for the run', async () => {
    const ran = await cli([...line, '--update'], { topUp: async () => reply });
    expect(ran.calls.at(-1)?.args.at(-1)).toEqual({ by: 'update' });
  });
});

test('the limits of a start become its budget and grants', async () => {
  const line = [
    ...['run', RUN, '--goal', 'x', '--user', 'u', '--workspace', 'w'],
    ...['--budget-requests', '5', '--budget-money', 'USD 1.00', '--budget-wall-time', '90s'],
    ...['--on-exhausted', 'end', '--grant', 'read', 'send'],
  ];
  const handle = { runId: RUN, how: 'started', result: () => Promise.reject() } as const;
  const ran = await cli(line, { start: async () => handle });
  expect(ran.calls[0]?.args[1]).toMatchObject({
    budget: {
      requests: 5,
      money: { currency: 'USD', micros: 1_000_000 },
      wallTimeMs: 90_000,
      onExhausted: 'end',
    },
    grants: ['read', 'send'],
  });
});
