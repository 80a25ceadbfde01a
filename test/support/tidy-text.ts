// Rules about words, sizes, names and links: what needs no syntax tree.

import { posix } from 'node:path';

export interface TextFinding {
  readonly rule: string;
  readonly offset: number;
  readonly message: string;
}

const HISTORIES = 'test/replay/histories/';

/** Names that Temporal's own API spells with two l; so does one member. */
const temporalNames = new Set([
  'CancelledFailure',
  'ActivityCancelledError',
  'isGrpcCancelledError',
  'WorkflowUpdateRPCTimeoutOrCancelledError',
  'CANCELLED',
]);

const words: readonly { rule: string; pattern: RegExp; message: string }[] = [
  {
    rule: 'bounded-claim',
    pattern: /\bexactly(?:[\s/*#>-]|<[^>]*>)+once\b/gi,
    message: 'nobody can promise that; say "at most one effect" and where it holds',
  },
  {
    rule: 'machine-words',
    pattern: /(?<![\w.~-])\/(?:home|Users|root|work)\/\w/g,
    message: 'a path of one machine; use a relative path or os.tmpdir()',
  },
  {
    rule: 'machine-words',
    pattern: /https?:\/\/[\w.-]*(?:registry|mirror|artifactory|nexus|verdaccio)\b[\w./-]*/g,
    message: 'a registry host; package managers know their own',
  },
  {
    rule: 'machine-words',
    pattern: /\b(?:npmjs\.(?:org|com)|pypi\.org|pythonhosted\.org|proxy\.golang\.org)\b/g,
    message: 'a registry host; package managers know their own',
  },
];

const linesMax: readonly { files: RegExp; max: number }[] = [
  { files: /^README\.md$/, max: 120 },
  { files: /^ARCHITECTURE\.md$/, max: 250 },
  { files: /^examples\/\d\d-.*\.ts$/, max: 60 },
  { files: /\.test(suite)?\.ts$/, max: 400 },
  { files: /\.(ts|mjs|js)$/, max: 300 },
];

const LINE_CHARS_MAX = 100;
const vagueNames = /^(utils?|helpers?|common|misc|managers?)$/;

export function textFindings(path: string, text: string): TextFinding[] {
  return [
    ...nameFindings(path),
    ...wordFindings(path, text),
    ...sizeFindings(path, text),
    ...(path.startsWith(HISTORIES) ? identityFindings(text) : []),
  ];
}

function nameFindings(path: string): TextFinding[] {
  if (!/\.(ts|mjs|js)$/.test(path)) return [];
  const at = (message: string) => [{ rule: 'file-names', offset: 0, message }];
  const stem = posix.basename(path).replace(/\.\w+$/, '');
  const vague = [...posix.dirname(path).split('/'), ...stem.split(/[-.]/)].find((word) =>
    vagueNames.test(word),
  );
  if (vague !== undefined) return at(`"${vague}" names nothing; call the file after its noun`);
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*$/.test(stem)) return at('file names are kebab-case');
  return [];
}

function wordFindings(path: string, text: string): TextFinding[] {
  const findings = words.flatMap(({ rule, pattern, message }) =>
    [...text.matchAll(pattern)].map((match) => ({
      rule,
      offset: match.index,
      message: `"${match[0]}": ${message}`,
    })),
  );
  if (path.startsWith(HISTORIES) || path === 'package-lock.json') return findings;
  for (const match of text.matchAll(/\w*cancel{2}ed\w*/gi)) {
    const member = match[0].startsWith('cancel') && text[match.index - 1] === '.';
    if (temporalNames.has(match[0]) || member) continue;
    const message = `"${match[0]}": canceled with one l (Temporal's own names are on a list)`;
    findings.push({ rule: 'one-spelling', offset: match.index, message });
  }
  return findings;
}

function sizeFindings(path: string, text: string): TextFinding[] {
  const findings: TextFinding[] = [];
  const lines = text.replace(/\n$/, '').split('\n');
  const limit = linesMax.find(({ files }) => files.test(path));
  if (limit !== undefined && lines.length > limit.max)
    findings.push({
      rule: 'file-length',
      offset: 0,
      message: `${lines.length} lines; at most ${limit.max}`,
    });
  if (!/\.(ts|mjs|js)$/.test(path)) return findings;
  let offset = 0;
  for (const line of lines) {
    const chars = [...line].length;
    if (chars > LINE_CHARS_MAX && !line.includes('://'))
      findings.push({ rule: 'line-length', offset, message: `${chars} characters; at most 100` });
    offset += line.length + 1;
  }
  return findings;
}

/** Recorded histories name no process of the machine that recorded them. */
function identityFindings(text: string): TextFinding[] {
  return [...text.matchAll(/"identity":\s*"\d+@[^"]*"/g)].map((match) => ({
    rule: 'machine-words',
    offset: match.index,
    message: `${match[0]}: record with an identity of its own`,
  }));
}

/** Relative links of a Markdown file that lead nowhere. `files` are all paths of the project. */
export function linkFindings(
  path: string,
  text: string,
  files: ReadonlySet<string>,
): TextFinding[] {
  if (!path.endsWith('.md')) return [];
  const folders = new Set([...files].flatMap(foldersOf));
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap((match) => {
    const target = (match[1] ?? '').replace(/#.*$/, '');
    if (target === '' || /^[a-z]+:/.test(target)) return [];
    const resolved = posix.normalize(posix.join(posix.dirname(path), target)).replace(/\/$/, '');
    if (files.has(resolved) || folders.has(resolved)) return [];
    return [{ rule: 'links', offset: match.index, message: `no ${resolved} in the project` }];
  });
}

/** Same length, so that offsets stay right. */
function withoutCode(text: string): string {
  return text.replace(/```[\s\S]*?```|`[^`\n]*`/g, (code) => code.replace(/[^\n]/g, ' '));
}

function foldersOf(file: string): string[] {
  const parts = file.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
