// docs/commands.md against the schemas: an operator pastes what stands there, so it has to be
// taken.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type AuthorityVerb,
  approvalSchema,
  authorityCommands,
  resolutionVerbSchema,
  resolveSchema,
  stopSchema,
} from '../../core/commands.ts';
import { goalSchema } from '../../core/goal.ts';
import { approvalTo, topUpTo } from '../../core/paste.ts';
import { projectRoot } from '../support/project-files.ts';

const page = (name: string) => readFileSync(join(projectRoot, 'docs', name), 'utf8');
const sections = new Map(
  page('commands.md')
    .split(/^## /m)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
);
const verbs = Object.keys(authorityCommands) as readonly AuthorityVerb[];

/** Of what a run shows, with places to fill in. */
const DECISIONS = '\n## Approve, deny, top up\n';

const examplesIn = (text: string): unknown[] =>
  [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = '']) => JSON.parse(json));
const fieldsIn = (text: string) => [...text.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
const keysOf = ({ shape }: { readonly shape: object }) => Object.keys(shape);

test.each(verbs)('R-134 every example of %s on the page is a command that is taken', (verb) => {
  const examples = examplesIn(sections.get(verb) ?? '');
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) {
    expect(authorityCommands[verb].parse(example)).toEqual(example);
    const { goal } = example as { goal?: unknown };
    if (goal !== undefined) expect(goalSchema.parse(goal)).toEqual(goal);
  }
});

test.each(verbs)('R-134 the fields of %s on the page are those it has', (verb) => {
  const every = fieldsIn(sections.get('Fields of every command') ?? '');
  expect(every).toEqual(keysOf(stopSchema));
  const own = fieldsIn(sections.get(verb) ?? '');
  expect([...every, ...own]).toEqual(keysOf(authorityCommands[verb]));
});

test('R-134 every example of an answer on the page of questions is one that is taken', () => {
  const [text = ''] = page('web-ui.md').split(DECISIONS);
  const [stop, ...answers] = examplesIn(text).reverse();
  expect(stopSchema.parse(stop)).toEqual(stop);
  expect(answers.length).toBe(resolutionVerbSchema.options.length);
  for (const answer of answers) expect(resolveSchema.parse(answer)).toEqual(answer);
});

test('R-136 what the page of questions says that a run shows is what it shows', () => {
  const [, text = ''] = page('web-ui.md').split(DECISIONS);
  const [approval, topUp, ...others] = examplesIn(text);
  const { actionId, bound } = approvalSchema.parse(approval);
  expect(approval).toEqual(approvalTo(actionId, bound));
  expect(topUp).toEqual(topUpTo('invoice-42', 'requests: 2 used, 0 held, 1 more do not fit 2'));
  expect(others).toEqual([]);
});
