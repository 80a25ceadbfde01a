// The Temporal Web UI as an operator uses it: lists, pages, dialogs. Selectors of version 2.54.
//
// INV-1 What is read is what a page shows, or what its copy button gives; never the server's API.

import type { Locator, Page } from 'playwright-core';
import type { Question } from '../../core/question.ts';
import { until } from './fault-stage.ts';
import { projectFiles } from './project-files.ts';

const SHOWN_MS = 60_000;

export interface WebUi {
  readonly page: Page;
  /** `http://127.0.0.1:…` */
  readonly url: string;
}

const filterPath = /^\/namespaces\/default\/workflows\?query=\S+$/m;

/** The address in docs/web-ui.md. */
export function documentedFilter(): string {
  const page = projectFiles().find(({ path }) => path === 'docs/web-ui.md');
  return page?.text.match(filterPath)?.[0] ?? '';
}

/** Prose on these pages has curly quotes. */
export function straight(text: string): string {
  return text.replace(/"(.*?)"/g, '“$1”');
}

/** Workflow ids of the list at `path`, as soon as they are as many. */
export async function listed({ page, url }: WebUi, path: string, count: number) {
  const rows = page.getByTestId('workflows-summary-configurable-table-row');
  return until(`a list of ${count}`, SHOWN_MS, async () => {
    await page.goto(`${url}${path}`);
    await rows.first().waitFor();
    const links = await rows.getByRole('link').allInnerTexts();
    return (await rows.count()) === count ? links.map((text) => text.trim()) : null;
  });
}

/** The landing page, where a link to the workflow leads. */
export async function openWorkflow(ui: WebUi, workflowId: string): Promise<void> {
  await ui.page.goto(`${ui.url}/namespaces/default/workflows/${encodeURIComponent(workflowId)}`);
  await landed(ui, workflowId);
}

export async function landed({ page }: WebUi, workflowId: string): Promise<void> {
  await page.getByRole('button', { name: `Copy ${workflowId}`, exact: true }).waitFor();
  await page.getByTestId('user-metadata-tab').waitFor();
}

/** The result's field has the same name. */
function inputField({ page }: WebUi): Locator {
  return page.getByRole('textbox', { name: 'Input' }).filter({ hasText: '"question"' });
}

/** What the landing page shows of the input: as many lines as fit. */
export async function shownInput(ui: WebUi): Promise<string> {
  const input = inputField(ui);
  await input.waitFor();
  return rendered(input);
}

/** The whole input, by its copy button. */
export async function copiedInput(ui: WebUi): Promise<Question> {
  const { page } = ui;
  const input = inputField(ui);
  await input.waitFor();
  const button = page.getByRole('button', { name: /copy/i });
  const around = page.locator('div').filter({ has: input }).filter({ has: button }).last();
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await around.getByRole('button', { name: /copy/i }).click();
  const text = await until('a copied input', SHOWN_MS, async () =>
    page.evaluate(() => navigator.clipboard.readText()).then((copied) => copied || null),
  );
  return JSON.parse(text);
}

export interface Pasted {
  readonly kind: 'signal' | 'update';
  readonly name: string;
  /**
   * How the name is given: chosen among those that a worker offers, typed beside them, or typed
   * where no worker offers any.
   */
  readonly by: 'list' | 'custom' | 'hand';
  /** Null: nothing is pasted. */
  readonly text: string | null;
}

/** More Actions → Send; returns what the dialog or a toast then says. */
export async function send({ page }: WebUi, { kind, name, by, text }: Pasted): Promise<string> {
  const dialog = await openDialog(page, kind);
  if (by !== 'hand') {
    await dialog.getByTestId(`${kind}-select-button`).click();
    // A description may hold the name of another one.
    const option = by === 'list' ? new RegExp(`^${name}\\b`) : 'Custom';
    await dialog.getByRole('option', { name: option }).click();
  }
  if (by !== 'list') await dialog.locator(`#${kind}-name`).fill(name);
  if (text !== null) {
    await dialog.getByRole('textbox', { name: 'Data' }).click();
    // What was pasted last is still there.
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(text);
  }
  await dialog.getByTestId('confirm-modal-button').click();
  const toast = page.locator('[data-testid^=toast]').filter({ hasText: /\w/ });
  const refusal = dialog.getByRole('alert').filter({ hasText: /\w/ });
  await toast.or(refusal).first().waitFor();
  if (await refusal.count()) {
    const said = await rendered(refusal);
    await dialog.getByTestId('cancel-modal-button').click();
    return said;
  }
  const said = await rendered(toast);
  // Sent before it is gone, a second one leaves the dialog hanging.
  await toast.first().waitFor({ state: 'hidden' });
  return said;
}

/** Names that the dialog offers, each with its description. */
export async function offered({ page }: WebUi, kind: Pasted['kind']): Promise<string[]> {
  const dialog = await openDialog(page, kind);
  await dialog.getByTestId(`${kind}-select-button`).click();
  await dialog.getByRole('option').first().waitFor();
  const options = await dialog.getByRole('option').allInnerTexts();
  await dialog.getByRole('option').last().click();
  await dialog.getByTestId('cancel-modal-button').click();
  return options;
}

async function openDialog(page: Page, kind: Pasted['kind']): Promise<Locator> {
  await page.getByRole('button', { name: 'More Actions' }).click();
  await page.locator(`[data-testid=${kind}-button]:visible`).click();
  const dialog = page.locator('dialog[open]');
  await dialog.waitFor();
  return dialog;
}

export type DetailsPart = 'summary' | 'details' | 'current-details';

export interface Details {
  readonly text: string;
  /** Fenced blocks. */
  readonly code: readonly string[];
  /** Names of the elements in it, each once. */
  readonly elements: readonly string[];
}

/** One part of the User Metadata tab, once `shows` is in its text. */
export async function details({ page }: WebUi, part: DetailsPart, shows: string): Promise<Details> {
  await page.getByTestId('user-metadata-tab').click();
  const main = page.frameLocator(`#user-metadata-${part}`).locator('main');
  return until(`"${shows}" in ${part}`, SHOWN_MS, async () => {
    await page.keyboard.press('r');
    try {
      return await shownIn(main, shows);
    } catch (error) {
      // The page has just put a newer one in its place.
      if (error instanceof Error && error.message.includes('Frame was detached')) return null;
      throw error;
    }
  });
}

async function shownIn(main: Locator, shows: string): Promise<Details | null> {
  await main.waitFor();
  const text = await rendered(main);
  if (!text.includes(shows)) return null;
  const code = await main.locator('pre').allInnerTexts();
  const names = await main
    .locator('*')
    .evaluateAll((all) => all.map((one) => one.tagName.toLowerCase()));
  return { text, code, elements: [...new Set(names)].sort() };
}

/** What is seen of it, unlike its text content. */
async function rendered(locator: Locator): Promise<string> {
  return (await locator.allInnerTexts()).join('\n').trim();
}
