// The guide for authors of tools. Would catch: code that no longer compiles or is no longer what
// the examples do, and a part of a contract, a settlement or a verdict that it does not explain.

import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRegistry, type Tools } from '../../activities/index.ts';
import { contractSchema } from '../../core/contract.ts';
import { inquiryVerdictSchema, settlementKindSchema } from '../../core/fact-fields.ts';
import { jobTools } from '../../examples/jobs/tools.ts';
import { mailTools } from '../../examples/mail/tools.ts';
import { paymentTools } from '../../examples/payments/tools.ts';
import { projectRoot } from '../support/project-files.ts';
import { tempDir } from '../support/temp-dir.ts';

const page = readFileSync(join(projectRoot, 'docs/write-your-own-tool.md'), 'utf8');
const blocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
const FROM = /^\/\/ (examples\/[\w./-]+)\n/;

/** What is in backticks at the beginning of a row, under the heading. */
function rowsUnder(heading: string): readonly string[] {
  const section = page.split(/^## /m).find((each) => each.startsWith(heading)) ?? '';
  return section.split('\n').flatMap((line) => {
    const [, first = ''] = /^\| ([^|]*) \|/.exec(line) ?? [];
    return [...first.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name);
  });
}

test('R-142 excerpts in the guide are what the examples do', () => {
  const excerpts = blocks.filter((code) => FROM.test(code));
  expect(excerpts.length).toBeGreaterThan(3);
  for (const excerpt of excerpts) {
    const path = FROM.exec(excerpt)?.[1] ?? '';
    const text = readFileSync(join(projectRoot, path), 'utf8');
    expect(text, path).toContain(excerpt.replace(FROM, ''));
  }
});

const service = `
export interface Answer {
  readonly status: number;
  readonly body: {
    readonly id: string;
    readonly closed: boolean;
    readonly parcels: readonly { readonly name: string; readonly done: boolean }[];
  };
}
export async function api(
  _method: 'GET' | 'POST', url: string, _key: string, _body?: object,
): Promise<Answer> {
  throw new Error(url + ' is not called');
}
export const ordersUrl = 'http://127.0.0.1:9';
export const shop = { receiver: 'orders', account: 'shop', workspace: 'live', region: 'eu' };
`;

/** The code that is no excerpt, as one module beside a service that is only made up. */
function guideModule(): { readonly directory: string; readonly path: string } {
  const directory = tempDir();
  const path = join(directory, 'guide.ts');
  symlinkSync(join(projectRoot, 'node_modules'), join(directory, 'node_modules'));
  const code = blocks.filter((each) => !FROM.test(each));
  expect(code.length).toBeGreaterThan(2);
  // The door re-exports it; read alone it is checked in a third of the time.
  const tool = join(projectRoot, 'activities/tool.ts');
  writeFileSync(path, code.join('\n').replace("'holdfast/activities'", `'${tool}'`));
  writeFileSync(join(directory, 'service.ts'), service);
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  const strict = { extends: join(projectRoot, 'tsconfig.json'), include: ['*.ts'] };
  const config = {
    ...strict,
    compilerOptions: { types: [], rewriteRelativeImportExtensions: false },
  };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config));
  return { directory, path };
}

test('R-142 the other code of the guide is one module that compiles', () => {
  const { directory } = guideModule();
  const tsc = join(projectRoot, 'node_modules/typescript/bin/tsc');
  const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', directory], {
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

test('R-142 the tools of the guide contradict themselves in nothing, at these levels', async () => {
  const { tools } = (await import(guideModule().path)) as { tools: Tools };
  const url = 'http://127.0.0.1:9';
  const examples = {
    ...paymentTools({ url, timeoutMs: 1 }),
    ...mailTools({ url }),
    ...jobTools({ url }),
  };
  const times = { startToCloseMs: 9_000, heartbeatTimeoutMs: 3_000, scheduleToStartMs: 9_000 };
  const registry = createRegistry({ ...tools, ...examples } as Tools, times);
  const levels = [...registry.tools].map(([name, { policy }]) => [name, policy.level]);
  expect(Object.fromEntries(levels)).toEqual({
    ...{ charge_card: 'L2', send_mail: 'L0', make_report: 'L1' },
    ...{ ship_order: 'L2', reserve_stock: 'L3', refund_charge: 'L0' },
  });
});

test('R-026 every part of a contract has its question, and what silence means', () => {
  const rows = rowsUnder('1. ');
  expect(rows).toEqual(expect.arrayContaining(Object.keys(contractSchema.shape)));
  expect(rows).toEqual(expect.arrayContaining(['scope.interface', 'scope.resource']));
});

test('D1 every settlement that a tool may give has its row, and so has what is none', () => {
  const rows = rowsUnder('2. ');
  const kinds = settlementKindSchema.options.filter((kind) => kind !== 'not_sent');
  expect(rows).toEqual(expect.arrayContaining([...kinds, 'KeyRefusedError']));
});

test('R-036 every verdict of an inquiry has its row', () => {
  expect(rowsUnder('4. ')).toEqual(expect.arrayContaining([...inquiryVerdictSchema.options]));
});
