// The desk's refunds, decided by people: in the real Web UI by pasting what the run's page shows,
// and by the command line. Would catch: a run that waits and is not found, a page whose JSON is not
// what the run takes, and a decision that means something else depending on where it was given.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type HoldfastClient } from '../../client/client.ts';
import { main } from '../../client/main.ts';
import { clientConfigFrom } from '../../core/config.ts';
import { payRefunds, refundTask } from '../../examples/support-desk/refunds.ts';
import { openStage, type Stage } from '../../examples/support-desk/stage.ts';
import type { Ledger } from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { openBrowser } from '../support/chromium.ts';
import { decidedRecord } from '../support/decided-record.ts';
import { until } from '../support/fault-stage.ts';
import { projectRoot } from '../support/project-files.ts';
import {
  details,
  documentedFilter,
  listed,
  openWorkflow,
  type Pasted,
  send,
  straight,
  type WebUi,
} from '../support/web-ui.ts';

/** Pages load slowly beside other work. */
const SHOWN_MS = 60_000;
/** Ids of one length: the size of a model's request is part of what is compared. */
const runs = [
  ...(['approve-screen', 'approve-client', 'deny-screen', 'deny-client'] as const),
  ...(['revoke-screen', 'revoke-client', 'slips'] as const),
];
type Run = (typeof runs)[number];
const who = { actor: 'ann@example.com', reason: 'looked at the mail' } as const;

let stage: Stage;
let ledger: Ledger;
let client: HoldfastClient;
let browser: Browser;
let ui: WebUi;
/** What the example says of `approve-client`, and its end. */
const said: string[] = [];
let byHand: Promise<void>;

beforeAll(async () => {
  [stage, browser] = await Promise.all([openStage({ existing: null, workers: 1 }), openBrowser()]);
  ledger = await openSqliteLedger({ path: stage.paths.ledger, create: true });
  client = await createClient({ config: clientConfigFrom(stage.settings), ledger });
  await stage.startWorker();
  const say = (line: string) => void said.push(line);
  byHand = payRefunds({ client, stage, runId: 'approve-client', say });
  byHand.catch(() => undefined); // it is awaited where its commands are given
  for (const runId of runs) if (runId !== 'approve-client') await client.start(runId, refundTask);
  await until('all wait', SHOWN_MS, async () => {
    const { approvals } = await client.inbox();
    return approvals.length === runs.length;
  });
});
afterAll(async () => {
  await browser?.close();
  await client?.close();
  await ledger?.close();
  await stage?.stop();
});
beforeEach(async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(SHOWN_MS);
  ui = { page: await context.newPage(), url: stage.temporal.uiUrl ?? '' };
});
afterEach(() => ui.page.context().close());

/** The command line; what it printed. */
async function holdfast(...words: readonly string[]): Promise<string> {
  const texts = { out: '', err: '' };
  const noFile = () => Promise.reject(new Error('no file is read'));
  const exit = await main(words, {
    env: stage.settings,
    version: '0.0.0',
    out: (text) => {
      texts.out += text;
    },
    err: (text) => {
      texts.err += text;
    },
    readFile: noFile,
    readInput: noFile,
    connect: (config) => createClient({ config }),
  });
  if (exit !== 0) throw new Error(`${words.join(' ')}: ${exit}: ${texts.err}${texts.out}`);
  return texts.out;
}

/** As the example says it to whoever watches. */
const told = (command: string) =>
  until(command, SHOWN_MS, async () => said.find((line) => line.includes(` ${command} `)) ?? null);

/** As it is copied into a shell. */
async function shell(line: string): Promise<void> {
  await promisify(execFile)('sh', ['-c', line.replace(/^or: /, '')], { cwd: projectRoot });
}

const byClient = (...words: readonly string[]) =>
  holdfast(...words, '--actor', who.actor, '--reason', who.reason);

/** The one block of JSON that the page shows, as a person fills it in. */
async function pasted(shows: string): Promise<string> {
  const { code } = await details(ui, 'current-details', shows);
  expect(code.length).toBe(1);
  return filled(code[0] ?? '');
}

function filled(json: string): string {
  return json
    .replace('"actor": "FILL IN"', `"actor": "${who.actor}"`)
    .replace('"reason": "FILL IN"', `"reason": "${who.reason}"`)
    .replace('"requests": "FILL IN"', '"requests": 2')
    .replace('/FILL IN"', '/1"');
}

const give = (kind: Pasted['kind'], name: string, text: string) =>
  send(ui, { kind, name, by: 'list', text });

/** The first example of the command in docs/commands.md, for another run. */
function documented(verb: string, runId: Run): string {
  const page = readFileSync(join(projectRoot, 'docs', 'commands.md'), 'utf8');
  const [, section = ''] = page.split(`\n## ${verb}\n`);
  const [, json = ''] = /```json\n([\s\S]*?)```/.exec(section) ?? [];
  return json.replaceAll('invoice-42', runId);
}

const effectsOf = async (runId: Run) =>
  (await stage.tickets.effects())
    .filter(({ key }) => key.includes(`/${runId}.`))
    .map(({ operation, key }) => `${operation} ${key.slice(key.indexOf('.t') + 1)}`)
    .sort();

/** The gateway keeps no keys: how often it has sent these words. */
const noticesOf = async (body: string) =>
  (await stage.notices.sent()).filter(({ mail }) => (mail as { body: string }).body === body)
    .length;

const recordOf = async (runId: Run) =>
  decidedRecord(runId, await ledger.facts(runId, { after: 0, limit: 1_000 }));

describe('R-136 what waits for a person', () => {
  test('is listed, and the page and the command line say the same of it', async () => {
    const rows = await listed(ui, documentedFilter(), runs.length);
    expect(rows).toEqual(expect.arrayContaining([...runs]));
    await ui.page.getByRole('link', { name: 'slips', exact: true }).click();
    const [shown, state, inbox] = await Promise.all([
      details(ui, 'current-details', 'Approve?'),
      holdfast('state', 'slips'),
      holdfast('inbox'),
    ]);
    const lines = shown.text.split('\n').filter((line) => line !== '');
    expect(lines.slice(0, 3)).toEqual([
      'slips: waiting',
      'Authority revision 1. Scheduled: 0. Open questions: 0.',
      'Approve? credit_customer, slips.t2.c1. Its input: holdfast approve slips.t2.c1. ' +
        'Signal approve or deny:',
    ]);
    expect(lines.length).toBeLessThanOrEqual(10);
    expect(shown.elements).toEqual(['code', 'p', 'pre', 'strong']);
    const question =
      'May credit_customer (slips.t2.c1) go ahead? see: holdfast approve slips.t2.c1';
    expect(inbox).toContain(question);
    expect(state).toContain(`waits for an approval: ${question}`);
    const [json = ''] = shown.code;
    expect(unindented(state)).toContain(unindented(json));
    expect(await holdfast('approve', 'slips.t2.c1')).toContain('"amount": 24000');
  });
});

const unindented = (text: string) => text.trim().replace(/^ +/gm, '');

describe('R-095 R-131 the same command in the Web UI and on the command line', () => {
  test('approve and topUp, as signals: the same record, end and effects', async () => {
    const [screen, other] = ['approve-screen', 'approve-client'] as const;
    const commands = (async () => {
      await shell(await told(`approve ${other}.t2.c1`));
      await shell(`${await told(`top-up ${other}`)} --id top-up/${other}/1`);
      await byHand;
    })();
    await openWorkflow(ui, screen);
    expect(await give('signal', 'approve', await pasted('Approve?'))).toContain('signaled');
    const topUp = await pasted(`Budget exhausted: ${screen}.t3.m: requests: 2 used`);
    const why = 'requests: 2 used, 0 held, 1 more do not fit 2';
    const [listing, state] = await Promise.all([holdfast('inbox'), holdfast('state', screen)]);
    expect(listing).toContain(`${screen}.t3.m waits for a top-up: ${why}`);
    expect(state).toContain(`waits for a top-up: ${screen}.t3.m: ${why}`);
    expect(filled(unindented(state))).toContain(unindented(topUp));
    expect(await give('signal', 'topUp', topUp)).toContain('signaled');
    await commands;
    await same(screen, other, {
      end: { kind: 'completed' },
      effects: ['credit t2.c1', 'credit t2.c2'],
    });
    expect(await noticesOf('2 refunds asked for, 2 paid')).toBe(2);
  });

  test('deny and topUp, as updates: the same record, end and effects', async () => {
    const [screen, other] = ['deny-screen', 'deny-client'] as const;
    const commands = (async () => {
      await byClient('deny', `${other}.t2.c1`, '--update');
      await until('it is used up', SHOWN_MS, async () =>
        (await client.inbox()).exhausted.some(({ runId }) => runId === other),
      );
      const words = ['--requests', '2', '--id', `top-up/${other}/1`, '--update'];
      await byClient('top-up', other, ...words);
    })();
    await openWorkflow(ui, screen);
    expect(await give('update', 'deny', await pasted('Approve?'))).toContain('Update successful');
    const topUp = await pasted('Budget exhausted');
    expect(await give('update', 'topUp', topUp)).toContain('Update successful');
    await commands;
    await same(screen, other, { end: { kind: 'completed' }, effects: ['credit t2.c2'] });
    expect(await noticesOf('2 refunds asked for, 1 paid')).toBe(2);
  });

  test('R-121 revoke of what waits: the same record and end, nothing more is done', async () => {
    const [screen, other] = ['revoke-screen', 'revoke-client'] as const;
    const commands = byClient('revoke', other, '--id', `revoke/${other}/1`);
    await openWorkflow(ui, screen);
    const revoke = JSON.stringify({ ...JSON.parse(documented('revoke', screen)), ...who }, null, 2);
    expect(await give('signal', 'revoke', revoke)).toContain('signaled');
    await commands;
    await same(screen, other, {
      end: { kind: 'stopped', reason: 'revoked' },
      effects: ['credit t2.c2'],
    });
    const { text } = await details(ui, 'current-details', 'Effects: 1.');
    expect(text).toContain(`${screen}: stopped (revoked)`);
    expect(text).toContain('Nothing was undone.');
  });
});

interface Expected {
  readonly end: object;
  readonly effects: readonly string[];
}

async function same(screen: Run, other: Run, { end, effects }: Expected): Promise<void> {
  for (const runId of [screen, other]) {
    expect(await client.result(runId)).toMatchObject({ end, undone: false });
    expect(await effectsOf(runId)).toEqual(effects);
  }
  expect(await recordOf(screen)).toEqual(await recordOf(other));
}

test('R-134 what is wrong is refused in words on the page; the right one then counts', async () => {
  const runId = 'slips';
  await openWorkflow(ui, runId);
  const { code } = await details(ui, 'current-details', 'Approve?');
  const shown = code[0] ?? '';
  const right = filled(shown);
  const other = right.replace(/[0-9a-f]{12}"\n}/, '000000000000"\n}');
  const half = right.slice(0, right.indexOf('"actionId"'));
  const quoted = JSON.stringify({ id: 'top-up/slips/1', ...who, requests: '2' }, null, 2);
  const slips = [
    ['approve', shown, 'approve: replace every "FILL IN" by your own words'],
    ['approve', other, `approve: ${runId}.t2.c1: it asks to do sha256:`],
    ['topUp', quoted, 'topUp: requests: Invalid input: expected number'],
  ] as const;
  for (const [name, text, why] of slips) {
    expect(await give('signal', name, text)).toContain('signaled');
    await details(ui, 'current-details', `Last command rejected: ${straight(why)}`);
  }
  // The dialog itself takes no half; nothing of it arrives.
  expect(await give('signal', 'approve', half)).toContain('Input must be valid JSON');
  expect(await effectsOf(runId)).toEqual(['credit t2.c2']);

  expect(await give('signal', 'approve', right)).toContain('signaled');
  await details(ui, 'current-details', 'Budget exhausted');
  const second = right.replace('"id": "approval/', '"id": "second/');
  expect(await give('signal', 'deny', second)).toContain('signaled');
  const why = `deny: ${runId}.t2.c1: ${who.actor} decided before: approve`;
  await details(ui, 'current-details', `Last command rejected: ${why}`);
  expect(await holdfast('state', runId)).toContain(`last rejected command: ${why}`);
  expect(await effectsOf(runId)).toEqual(['credit t2.c1', 'credit t2.c2']);
  await byClient('revoke', runId);
  expect((await client.result(runId)).end).toEqual({ kind: 'stopped', reason: 'revoked' });
});
