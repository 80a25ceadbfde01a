// Constructs that are not used here, found in the syntax tree. Strings and comments never match.

import {
  bare,
  dottedName,
  nameOf,
  nodeAt,
  nodesAt,
  parseFile,
  type SyntaxNode,
  stringOf,
  valueAt,
  walk,
} from './syntax.ts';

const FUNCTION_LINES_MAX = 60;

export interface CodeFile {
  readonly path: string;
  readonly text: string;
  /** Names imported from Temporal's workflow library: there `sleep` is a recorded timer. */
  readonly workflowNames: ReadonlySet<string>;
  /** A file that reads `process.argv` is an entry point and owns its console. */
  readonly entryPoint: boolean;
}

export interface CodeRule {
  readonly name: string;
  readonly applies: (path: string) => boolean;
  readonly find: (
    node: SyntaxNode,
    parents: readonly SyntaxNode[],
    file: CodeFile,
  ) => string | null;
}

const rooms = /^(core|ledger|receiver|activities|workflows|workers|client)\//;
const everywhere = () => true;
const inRoomsOrExamples = (path: string) => rooms.test(path) || path.startsWith('examples/');
const inTests = (path: string) => path.startsWith('test/');
const isTestFile = (path: string) => /\.test(suite)?\.ts$/.test(path);

const localActivities = ['proxyLocalActivities', 'scheduleLocalActivity'];
const clocksAndDice = [
  'Math.random',
  'Date.now',
  'performance.now',
  'crypto.randomUUID',
  'crypto.getRandomValues',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'process.env',
  'process.hrtime',
  'fetch',
];

export const codeRules: readonly CodeRule[] = [
  {
    name: 'no-enum',
    applies: everywhere,
    find: ({ type }) => (type === 'TSEnumDeclaration' ? 'use a union of string literals' : null),
  },
  {
    name: 'no-any',
    applies: everywhere,
    find: ({ type }) => (type === 'TSAnyKeyword' ? 'use unknown and narrow it' : null),
  },
  {
    name: 'no-local-activities',
    applies: everywhere,
    find: (node) =>
      node.type === 'Identifier' && localActivities.includes(String(valueAt(node, 'name')))
        ? 'a local activity runs again after a worker crash whatever its attempts allow'
        : null,
  },
  {
    name: 'pure-core',
    applies: (path) => path.startsWith('core/'),
    find: (node) =>
      node.type === 'AwaitExpression' || valueAt(node, 'async') === true
        ? 'core is synchronous; let the caller wait and pass the value in'
        : clockOrDice(node, clocksAndDice),
  },
  {
    name: 'workflow-time',
    // One place says why the time there is the same in every replay.
    applies: (path) => path.startsWith('workflows/') && path !== 'workflows/clock.ts',
    find: (node) => clockOrDice(node, ['Date.now']),
  },
  {
    name: 'no-console',
    applies: (path) => !/^(client\/(cli\.ts$|commands\/)|examples\/|bench\/)/.test(path),
    find: (node, _parents, file) =>
      dottedName(node)?.startsWith('console.') && !file.entryPoint
        ? 'only command lines print; write through the log the composition passes in'
        : null,
  },
  {
    name: 'no-sleep-in-tests',
    applies: (path) => inTests(path) && !path.startsWith('test/support/'),
    find: (node, _parents, file) => sleepProblem(node, file),
  },
  {
    name: 'no-only-skip-retry',
    applies: (path) => isTestFile(path) || path === 'vitest.config.ts',
    find: (node, parents, file) => selectionProblem(node, parents, file),
  },
  {
    name: 'hardened-activities',
    applies: (path) => inRoomsOrExamples(path) && !path.startsWith('workflows/'),
    find: (node) =>
      node.type === 'Identifier' && valueAt(node, 'name') === 'proxyActivities'
        ? 'activities are proxied in one file of workflows/, which sets the hardened options'
        : null,
  },
  {
    name: 'failures-in-one-place',
    applies: (path) =>
      inRoomsOrExamples(path) && !/^(activities|workflows)\/failures\.ts$/.test(path),
    find: (node) => failureProblem(node),
  },
  {
    name: 'function-length',
    applies: (path) => !isTestFile(path),
    find: (node, _parents, file) => lengthProblem(node, file),
  },
];

/** Findings of all rules in one file. */
export function codeFindings(
  path: string,
  text: string,
): { rule: string; offset: number; message: string }[] {
  const root = parseFile(path, text);
  const file: CodeFile = { path, text, ...factsOf(root) };
  const rules = codeRules.filter((rule) => rule.applies(path));
  const findings: { rule: string; offset: number; message: string }[] = [];
  walk(root, (node, parents) => {
    for (const rule of rules) {
      const message = rule.find(node, parents, file);
      if (message !== null) findings.push({ rule: rule.name, offset: node.start, message });
    }
  });
  return findings;
}

/** Whether the file names `proxyActivities` at all; at most one file of workflows/ may. */
export function proxiesActivities(path: string, text: string): boolean {
  let found = false;
  if (!text.includes('proxyActivities')) return found;
  walk(parseFile(path, text), (node) => {
    if (node.type === 'Identifier' && valueAt(node, 'name') === 'proxyActivities') found = true;
  });
  return found;
}

function factsOf(root: SyntaxNode): Pick<CodeFile, 'workflowNames' | 'entryPoint'> {
  const workflowNames = new Set<string>();
  let entryPoint = false;
  walk(root, (node) => {
    if (dottedName(node) === 'process.argv') entryPoint = true;
    if (stringOf(nodeAt(node, 'source')) !== '@temporalio/workflow') return;
    for (const specifier of nodesAt(node, 'specifiers')) {
      const local = nameOf(nodeAt(specifier, 'local'));
      if (local !== null) workflowNames.add(local);
    }
  });
  return { workflowNames, entryPoint };
}

function clockOrDice(node: SyntaxNode, banned: readonly string[]): string | null {
  const callee = nodeAt(node, 'callee');
  const bareDate = node.type === 'NewExpression' && nodesAt(node, 'arguments').length === 0;
  if (bareDate && nameOf(callee) === 'Date') return 'pass the time in as an argument';
  const name = node.type === 'CallExpression' ? dottedName(callee) : memberName(node);
  const hit = name !== null && banned.includes(name.replace(/^globalThis\./, ''));
  return hit ? `${name}: pass time, ids and randomness in as arguments` : null;
}

/** So that passing `Date.now` on as a value is found too. */
function memberName(node: SyntaxNode): string | null {
  return node.type === 'MemberExpression' ? dottedName(node) : null;
}

function sleepProblem(node: SyntaxNode, file: CodeFile): string | null {
  if (node.type !== 'CallExpression') return null;
  const advice = 'no sleeping until something happened: poll with a deadline (test/support)';
  const name = dottedName(nodeAt(node, 'callee'));
  if (name === null || file.workflowNames.has(name)) return null;
  if (/^(sleep|delay|pause|wait|timers\.setTimeout)$/.test(name)) return advice;
  if (!/^(globalThis\.)?setTimeout$/.test(name)) return null;
  const [first] = nodesAt(node, 'arguments');
  const isCallback = first?.type === 'ArrowFunctionExpression';
  return isCallback && !callsResolve(first) ? null : advice;
}

/** `setTimeout(() => resolve(), …)` is a sleep as well. */
function callsResolve(callback: SyntaxNode): boolean {
  let found = false;
  walk(callback, (node) => {
    const name = node.type === 'CallExpression' ? nameOf(nodeAt(node, 'callee')) : null;
    if (name !== null && /^(resolve|done|ok)$/.test(name)) found = true;
  });
  return found;
}

function selectionProblem(
  node: SyntaxNode,
  parents: readonly SyntaxNode[],
  file: CodeFile,
): string | null {
  const property = node.type === 'MemberExpression' ? nameOf(nodeAt(node, 'property')) : null;
  const root = dottedName(node)?.split('.')[0] ?? '';
  const onTest = /^(it|test|describe|suite|context|ctx|t)$/.test(root);
  if (property !== null && onTest && /^(only|skip|todo|skipIf|runIf|fails)$/.test(property))
    return `.${property} hides tests; what needs more than Node is a suite of its own`;
  if (node.type !== 'Property' || !isTrueFor(node, ['retry', 'only', 'skip', 'todo'])) return null;
  const call = parents.at(-2);
  const callee = call?.type === 'CallExpression' ? calleeRoot(call) : null;
  const asOption = callee !== null && /^(it|test|describe|suite)$/.test(callee);
  const inConfig = file.path === 'vitest.config.ts';
  return asOption || inConfig ? `${nameOf(nodeAt(node, 'key'))}: a test passes at once` : null;
}

function isTrueFor(property: SyntaxNode, names: readonly string[]): boolean {
  const off = [false, 0].some((value) => valueAt(nodeAt(property, 'value'), 'value') === value);
  return !off && names.includes(nameOf(nodeAt(property, 'key')) ?? '');
}

/** `it` of `it('…')`, `it.each(rows)('…')` and the like. */
export function calleeRoot(call: SyntaxNode): string | null {
  const callee = bare(nodeAt(call, 'callee'));
  if (callee?.type === 'CallExpression') return calleeRoot(callee);
  if (callee?.type === 'TaggedTemplateExpression')
    return dottedName(nodeAt(callee, 'tag'))?.split('.')[0] ?? null;
  return dottedName(callee)?.split('.')[0] ?? null;
}

function failureProblem(node: SyntaxNode): string | null {
  const callee = dottedName(nodeAt(node, 'callee'));
  if (callee === null || !/(^|\.)ApplicationFailure(\.\w+)?$/.test(callee)) return null;
  return 'failures are made in activities/failures.ts and workflows/failures.ts';
}

function lengthProblem(node: SyntaxNode, { text }: CodeFile): string | null {
  const kinds = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];
  if (!kinds.includes(node.type)) return null;
  const lines = text.slice(node.start, node.end).split('\n').length;
  return lines > FUNCTION_LINES_MAX
    ? `a function of ${lines} lines; at most ${FUNCTION_LINES_MAX}: split it by noun`
    : null;
}
