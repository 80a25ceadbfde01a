// Would catch: a page, or a text that a person reads on a screen, that claims more than is kept.
// What is claimed has to stand there with its boundary, its faults and how long it holds.

import { expect, test } from 'vitest';
import { groundTable } from '../activities/tools/files/footing.ts';
import { projectFiles } from './support/project-files.ts';

const files = projectFiles();
const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? '';

/** Each a claim that no receiver and no ledger keeps. */
const claims: readonly RegExp[] = [
  /\bexactly[\s-]+once\b/i,
  /\bguarantee[sd]?\b(?! is as strong as)/i,
  /\b(?:can|will) never (?:be duplicated|happen twice|be lost)\b/i,
  /\bno duplicates?\b/i,
  /\bfully (?:recovers?|atomic|reliable)\b/i,
  /\b(?:rolls?|rolled) back\b/i,
  /\ball[\s-]or[\s-]nothing\b/i,
  /\b100 ?%/,
];

/** The rooms whose texts people read, as code; and every page, but for those that quote others. */
const rooms = /^(?:core|workflows|activities|client|workers)\/.*\.ts$/;
const pages =
  /^(?:README|ARCHITECTURE|SECURITY|CHANGELOG)\.md$|^docs\/(?!cases|requirements).*\.md$/;
/** Comments are for those who read the code: what they say of databases is another matter. */
const withoutComments = (text: string) =>
  text.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '').replaceAll(/\/\*\*.*?\*\//gs, '');

const said = files
  .filter(({ path }) => rooms.test(path) || pages.test(path))
  .map(({ path, text }) => ({ path, text: rooms.test(path) ? withoutComments(text) : text }));

test.each(claims)('R-031 R-142 no page and no text of a screen says %s', (claim) => {
  expect(said.length).toBeGreaterThan(150);
  expect(said.filter(({ text }) => claim.test(text)).map(({ path }) => path)).toEqual([]);
});

test.each([
  [
    'README.md',
    /Atomicity of an effect and its record\. What is promised is that the difference is/,
  ],
  ['README.md', /held as \*\*unknown\*\*/],
  ['README.md', /SQLite on a local disk serves one\s+host/],
  ['README.md', /they prove nothing\s+about the receivers, prices or bills of others/],
  ['docs/receiver-levels.md', /within a stated scope and retention/],
  ['docs/receiver-levels.md', /"Not found" is not "not executed"/],
  ['docs/receiver-levels.md', /Afterwards the same key is a new request/],
  ['docs/files.md', /a reader sees the file and that a power cut leaves it are two things/],
  ['ARCHITECTURE.md', /## What happens when …/],
  [
    'ARCHITECTURE.md',
    /Where a contract is missing, the honest end of a run is `ended_with_unknown`/,
  ],
] as const)('R-031 %s states the boundary: %s', (path, statement) => {
  expect(textOf(path)).toMatch(statement);
});

const systems = ['Linux', 'macOS', 'Windows', 'FreeBSD', 'Alpine'];
const grounds = [...groundTable.values()];
const best = grounds.filter(({ kind }) => kind === 'tried').map(({ name }) => name);

test.each([
  ['README.md', ['Linux', 'Node 20', 'SQLite', 'Postgres 15', ...best]],
  ['docs/files.md', ['Linux', 'Node 20', ...best]],
  ['docs/receiver.md', ['Linux', 'Node 20', 'SQLite', 'Postgres 15', 'ext4']],
])('R-125 %s names the platform that was tried, and claims nothing wider', (path, tried) => {
  const paragraphs = textOf(path).split('\n\n');
  const [paragraph = '', ...others] = paragraphs.filter((each) =>
    each.includes('Nothing wider is claimed'),
  );
  expect(others).toEqual([]);
  const isNamed = (name: string) => new RegExp(`\\b${name}\\b`, 'i').test(paragraph);
  expect(tried.filter((name) => !isNamed(name))).toEqual([]);
  const known = [...systems, ...grounds.map(({ name }) => name)];
  expect(known.filter((name) => isNamed(name) && !tried.includes(name))).toEqual([]);
});
