// The operator's path in the real Web UI, as docs/web-ui.md describes it. Would catch: a question
// that nobody finds, reads or can answer there, and text from outside that becomes markup.

import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { actionIdOf, unknownIdOf } from '../../core/ids.ts';
import type { Question } from '../../core/question.ts';
import { openBrowser } from '../support/chromium.ts';
import { asked, type FaultStage, openFaultStage, until } from '../support/fault-stage.ts';
import {
  copiedInput,
  details,
  documentedFilter,
  landed,
  listed,
  offered,
  openWorkflow,
  type Pasted,
  send,
  shownInput,
  straight,
  type WebUi,
} from '../support/web-ui.ts';

const { address, namespace, uiUrl } = inject('temporal');
/** Pages load slowly beside other work. */
const SHOWN_MS = 60_000;

let stage: FaultStage;
let browser: Browser;
let ui: WebUi;

beforeAll(async () => {
  stage = await openFaultStage({ address, namespace, bundlePath: inject('bundlePath') });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await stage?.close();
});
beforeEach(async () => {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(SHOWN_MS);
  ui = { page: await context.newPage(), url: uiUrl };
});
afterEach(() => ui.page.context().close());

/** A run whose only notice went out and whose reply is lost: somebody is asked. */
async function askingRun(runId: string) {
  await stage.worker();
  const subject = `Notice of ${runId}`;
  await stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: subject });
  const input = { to: 'lead@example.com', subject, body: '<img src=x> **bold**' };
  const goal = { kind: 'plan', steps: [{ tool: 'send_notice', input }] } as const;
  const run = await stage.client.start(runId, {
    goal,
    principal: { user: 'ada', workspace: 'w1' },
  });
  const actionId = actionIdOf(runId, 't1.c1');
  await asked(stage.client, actionId);
  const sent = async () => (await stage.gateway.log()).filter(({ mail }) => has(mail, subject));
  return { run, actionId, question: unknownIdOf(actionId), sent };
}

const has = (mail: unknown, subject: string) => JSON.stringify(mail).includes(subject);

/** As a person replaces it, in the text that was copied. */
function filled(answer: Question['if_yes']): string {
  return JSON.stringify(answer, null, 2)
    .replace('"actor": "FILL IN"', '"actor": "ann@example.com"')
    .replaceAll('FILL IN', 'gateway log, line 1');
}

async function answerYes(by: 'list' | 'hand' = 'list'): Promise<string> {
  await ui.page.getByTestId('timeline-tab').click();
  const { if_yes } = await copiedInput(ui);
  return signal('resolve', filled(if_yes), by);
}

const signal = (name: string, text: string | null, by: Pasted['by'] = 'list') =>
  send(ui, { kind: 'signal', name, by, text });

/** More Actions → Terminate, as somebody might who only wants the question to go away. */
async function terminate(workflowId: string): Promise<void> {
  await openWorkflow(ui, workflowId);
  await ui.page.getByRole('button', { name: 'More Actions' }).click();
  await ui.page.locator('[data-testid=terminate-button]:visible').click();
  await ui.page.locator('dialog[open]').getByTestId('confirm-modal-button').click();
}

describe('R-134 R-105 an operator', () => {
  test('R-012 finds the waiting question and answers it, and the run completes', async () => {
    const { run, actionId, question, sent } = await askingRun('invoice-42');
    expect(await listed(ui, documentedFilter(), 1)).toContain(question);
    await ui.page.getByRole('link', { name: question, exact: true }).click();
    await landed(ui, question);

    const shown = await shownInput(ui);
    expect(shown).toContain(`Did send_notice (${actionId}) take effect at its receiver?`);
    for (const line of ['"signal": "resolve"', '"if_yes": {', '"verb": "confirm_executed"'])
      expect(shown).toContain(line);
    expect(await offered(ui, 'signal')).toContainEqual(
      expect.stringMatching(/^resolve\s+Answer about an action/),
    );
    expect(await answerYes()).toContain('Workflow signaled');
    expect((await run.result()).end).toEqual({ kind: 'completed' });
    expect((await sent()).length).toBe(1);
  });

  test('finds open questions only: one that was ended and asked anew is listed once', async () => {
    const { run, question } = await askingRun('ended-once');
    await openWorkflow(ui, question);
    const first = ui.page.url();
    await terminate(question);
    await until('it is asked anew', SHOWN_MS, async () => {
      await openWorkflow(ui, question);
      return ui.page.url() !== first;
    });
    expect(await listed(ui, documentedFilter(), 1)).toEqual(expect.arrayContaining([question]));
    await openWorkflow(ui, question);
    await answerYes();
    expect((await run.result()).end).toEqual({ kind: 'completed' });
  });

  test('sends what is no answer: the run stays healthy, and the page says why', async () => {
    const { run, question, sent } = await askingRun('slips');
    await openWorkflow(ui, question);
    const { if_yes } = await copiedInput(ui);
    const slips: [string | null, string][] = [
      [null, 'no argument; paste one JSON object'],
      ['"yes, it did"', 'command: '],
      [JSON.stringify([if_yes], null, 2), 'an array arrived'],
      [JSON.stringify(if_yes, null, 2), 'replace every "FILL IN"'],
    ];
    for (const [text, why] of slips) {
      expect(await signal('resolve', text)).toContain('signaled');
      const { text: said } = await details(ui, 'current-details', straight(why));
      expect(said).toContain('Last answer rejected: resolve: ');
    }
    const markup = '<img src=x onerror=alert(1)> **bold** [x](http://example.com)';
    expect(await signal(markup, '{}', 'custom')).toContain('signaled');
    const odd = await details(ui, 'current-details', 'there is no signal');
    expect(odd.text).toContain('<img src=x onerror=alert(1)> **bold** [x](http://example.com)');
    expect(odd.elements).toEqual(['a', 'code', 'p', 'strong']);

    await answerYes();
    expect((await run.result()).end).toEqual({ kind: 'completed' });
    expect((await sent()).length).toBe(1);
  });

  test('updates with a stale answer: the dialog says so, and nothing is recorded', async () => {
    const { run, actionId, question } = await askingRun('stale');
    await openWorkflow(ui, question);
    const { if_yes } = await copiedInput(ui);
    const update = (text: string) =>
      send(ui, { kind: 'update', name: 'resolve', by: 'list', text });
    const current = if_yes.recordVersion;
    const stale = filled({ ...if_yes, recordVersion: current - 1 });
    const words = `the answer is to record ${current - 1}, the record is now ${current}`;
    expect(await update(stale)).toContain(`${words}; look again`);
    expect(await update(JSON.stringify(if_yes, null, 2))).toContain('FILL IN');
    expect(await update('{ "verb": "dance" }')).toContain('verb: ');
    const facts = await stage.ledger.facts('stale', { after: 0, limit: 100 });
    expect(facts.map(({ body }) => body.kind)).not.toContain('command_rejected');
    expect(await update(filled(if_yes))).toContain('Update successful');
    expect((await run.result()).end).toEqual({ kind: 'completed' });
    expect((await stage.ledger.read('stale')).actions.get(actionId)?.resolutions.length).toBe(1);
  });

  test('R-012 without a worker the question is read, and the answer waits for one', async () => {
    const { run, actionId, question } = await askingRun('nobody-there');
    await (await stage.worker()).kill();
    await openWorkflow(ui, question);
    expect(await shownInput(ui)).toContain(`Did send_notice (${actionId})`);
    const { if_yes, if_no } = await copiedInput(ui);
    const { text, code } = await details(ui, 'details', 'It did not happen:');
    expect(text).toContain(`Did send_notice (${actionId}) take effect at its receiver?`);
    expect(code.map((block) => JSON.parse(block))).toEqual([if_yes, if_no]);
    expect(await answerYes('hand')).toContain('Workflow signaled');
    await stage.worker();
    expect((await run.result()).end).toEqual({ kind: 'completed' });
  });
});

test('R-134 R-136 text from outside stays text in summary, details and timeline', async () => {
  const runId = 'desk <img src=x> *7* _b_ [x](y) $z$';
  const { run, actionId, question } = await askingRun(runId);
  await openWorkflow(ui, question);
  const summary = await details(ui, 'summary', actionId);
  expect(summary).toMatchObject({ text: `unknown: send_notice ${actionId}` });
  expect(summary.elements).toEqual(['code', 'p']);
  const fixed = await details(ui, 'details', 'It did not happen:');
  expect(fixed.elements).toEqual(['a', 'code', 'p', 'pre', 'strong']);
  const current = await details(ui, 'current-details', 'Waiting for a person.');
  expect(current.text).toContain(`Did send_notice (${actionId}) take effect at its receiver?`);
  expect(current.text.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(10);
  expect(current.elements).toEqual(['a', 'code', 'p', 'strong']);

  await openWorkflow(ui, runId);
  await ui.page.getByText(`unknown: send_notice ${actionId}`).first().waitFor();
  const since = (await asked(stage.client, actionId)).evidence.enteredAt;
  const oldest = `Open questions: 1, the oldest since ${since}.`;
  const about = await details(ui, 'current-details', oldest);
  expect(about.text).toContain(`${runId}: waiting`);
  expect(about.elements).toEqual(['a', 'li', 'p', 'strong', 'ul']);
  const frame = ui.page.frameLocator('#user-metadata-current-details');
  const [tab] = await Promise.all([
    ui.page.waitForEvent('popup'),
    frame.getByRole('link', { name: actionId }).click(),
  ]);
  ui = { ...ui, page: tab };
  await landed(ui, question);
  await answerYes();
  expect((await run.result()).end).toEqual({ kind: 'completed' });
});
