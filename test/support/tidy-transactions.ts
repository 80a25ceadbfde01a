// No external call inside a transaction: what goes outside is not rolled back with it. The
// body of a transaction is followed through the project's own functions; what a value that came in
// as an argument does (`operation.apply`, `site.clock`) cannot be seen here.

import { posix } from 'node:path';
import {
  bare,
  dottedName,
  lineAt,
  nameOf,
  nodeAt,
  nodesAt,
  parseFile,
  type SyntaxNode,
  stringOf,
  valueAt,
  walk,
} from './syntax.ts';
import type { Finding, ProjectFile } from './tidy-rules.ts';

/** What computes and touches nothing. */
const pure = /^(zod|canonicalize|@noble\/hashes|(node:)?(crypto|path|util|buffer|assert))(\/|$)/;
/** Waiting is one of them: a transaction that waits for time holds up everybody else. */
const outside =
  /^(fetch|WebSocket|EventSource|XMLHttpRequest|setTimeout|setInterval|setImmediate|process)$/;
const inProduct = /^(core|ledger|receiver|activities|workflows|workers|client)\/.*\.ts$/;
const functionTypes = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

interface Module extends ProjectFile {
  readonly imports: ReadonlyMap<string, { readonly from: string; readonly name: string }>;
  readonly functions: ReadonlyMap<string, SyntaxNode>;
  readonly root: SyntaxNode;
}

/** A function that runs inside a transaction; the ledger's are synchronous. */
interface Body {
  readonly node: SyntaxNode;
  readonly of: 'ledger' | 'receiver';
}

type Look = (path: string) => Module | null;

export function transactionFindings(files: readonly ProjectFile[]): Finding[] {
  const look = lookIn(files);
  const found = files.flatMap(({ path, text }) => {
    if (!inProduct.test(path) || !/transact|tx\b/i.test(text)) return [];
    const module = look(path);
    return module === null ? [] : findingsIn(module, look);
  });
  const key = ({ path, line, message }: Finding) => `${path}:${line}:${message}`;
  return [...new Map(found.map((finding) => [key(finding), finding])).values()];
}

function findingsIn(module: Module, look: Look): Finding[] {
  const findings: Finding[] = [];
  const seen = new Set<SyntaxNode>();
  walk(module.root, (node) => {
    for (const body of bodiesAt(node, module)) inspect(body, module, { look, seen, findings });
  });
  return findings;
}

/** What a call hands to a transaction, and every function that is handed one. */
function bodiesAt(node: SyntaxNode, module: Module): Body[] {
  if (functionTypes.includes(node.type) && takesTransaction(node, module))
    return [{ node, of: 'receiver' }];
  if (node.type !== 'CallExpression') return [];
  const name = dottedName(nodeAt(node, 'callee'))?.split('.').at(-1) ?? '';
  const of = name === 'transact' ? 'ledger' : 'receiver';
  if (!['transact', 'transaction', 'nested'].includes(name)) return [];
  return nodesAt(node, 'arguments').map((argument) => ({ node: argument, of }));
}

function takesTransaction(node: SyntaxNode, { text }: Module): boolean {
  return nodesAt(node, 'params').some((param) => {
    const type = nodeAt(param, 'typeAnnotation');
    const words = type === null ? '' : text.slice(type.start, type.end);
    return /^:\s*(Effect)?Tx$/.test(words) || (type === null && nameOf(param) === 'tx');
  });
}

interface Inspection {
  readonly look: Look;
  readonly seen: Set<SyntaxNode>;
  readonly findings: Finding[];
}

function inspect({ node: top, of }: Body, module: Module, at: Inspection): void {
  if (at.seen.has(top)) return;
  at.seen.add(top);
  walk(top, (node, parents) => {
    const message = problem(node, parents, { of, module });
    if (message !== null)
      at.findings.push({
        path: module.path,
        line: lineAt(module.text, node.start),
        rule: 'outside-in-transaction',
        message,
      });
    const called = isReference(node, parents)
      ? calledBy(nameOf(node) ?? '', module, at.look)
      : null;
    if (called !== null) inspect({ node: called.node, of }, called.module, at);
  });
}

function problem(
  node: SyntaxNode,
  parents: readonly SyntaxNode[],
  { of, module }: { readonly of: Body['of']; readonly module: Module },
): string | null {
  const isAsync = node.type === 'AwaitExpression' || valueAt(node, 'async') === true;
  if (of === 'ledger' && isAsync) return 'a decision of the ledger is synchronous; ask before it';
  if (node.type === 'ImportExpression') return 'import() inside a transaction';
  if (!isReference(node, parents)) return null;
  const name = nameOf(node) ?? '';
  const from = module.imports.get(name)?.from;
  if (from !== undefined)
    return from.startsWith('.') || pure.test(from) ? null : `${name} of ${from}: ${advice}`;
  return outside.test(name) && !module.functions.has(name) ? `${name}: ${advice}` : null;
}

const advice =
  'what leaves a transaction is not rolled back with it; do it before or after, as an action of ' +
  'its own, or through the outbox';

/** Neither a property's name nor a type. */
function isReference(node: SyntaxNode, parents: readonly SyntaxNode[]): boolean {
  if (node.type !== 'Identifier') return false;
  const parent = parents.at(-1) ?? null;
  if (parents.some(({ type }) => /^TS(Type|Interface|Function|Qualified)/.test(type))) return false;
  const names = { MemberExpression: 'property', Property: 'key' }[parent?.type ?? ''];
  if (names === undefined) return true;
  const isName = nodeAt(parent, names) === node && valueAt(parent, 'computed') !== true;
  return !isName || valueAt(parent, 'shorthand') === true;
}

/** The project's own function of that name, here or where it is imported from. */
function calledBy(name: string, module: Module, look: Look) {
  const own = module.functions.get(name);
  if (own !== undefined) return { node: own, module };
  const imported = module.imports.get(name);
  if (imported === undefined || !imported.from.startsWith('.')) return null;
  const other = look(posix.join(posix.dirname(module.path), imported.from));
  const node = other?.functions.get(imported.name);
  return other === null || node === undefined ? null : { node, module: other };
}

function lookIn(files: readonly ProjectFile[]): Look {
  const texts = new Map(files.map((file) => [file.path, file]));
  const known = new Map<string, Module | null>();
  return (path) => {
    const file = texts.get(path);
    if (!known.has(path)) known.set(path, file === undefined ? null : moduleOf(file));
    return known.get(path) ?? null;
  };
}

/** One that does not parse is found by the rule of its own. */
function moduleOf({ path, text }: ProjectFile): Module | null {
  let root: SyntaxNode;
  try {
    root = parseFile(path, text);
  } catch {
    return null;
  }
  const imports = new Map<string, { from: string; name: string }>();
  const functions = new Map<string, SyntaxNode>();
  for (const statement of nodesAt(root, 'body')) {
    for (const [name, one] of importsAt(statement)) imports.set(name, one);
    for (const [name, node] of functionsAt(statement)) functions.set(name, node);
  }
  return { path, text, root, imports, functions };
}

function importsAt(statement: SyntaxNode): [string, { from: string; name: string }][] {
  const from = stringOf(nodeAt(statement, 'source'));
  const isValue = valueAt(statement, 'importKind') !== 'type';
  if (statement.type !== 'ImportDeclaration' || from === null || !isValue) return [];
  return nodesAt(statement, 'specifiers').flatMap((specifier) => {
    const local = nameOf(nodeAt(specifier, 'local'));
    if (local === null || valueAt(specifier, 'importKind') === 'type') return [];
    return [[local, { from, name: nameOf(nodeAt(specifier, 'imported')) ?? local }]];
  });
}

/** Declared functions, and constants: what those hold is followed like a body. */
function functionsAt(statement: SyntaxNode): [string, SyntaxNode][] {
  const declared = nodeAt(statement, 'declaration') ?? statement;
  if (declared.type === 'FunctionDeclaration')
    return [[nameOf(nodeAt(declared, 'id')) ?? '', declared]];
  return nodesAt(declared, 'declarations').flatMap((one) => {
    const value = bare(nodeAt(one, 'init'));
    const name = nameOf(nodeAt(one, 'id'));
    return value === null || name === null ? [] : [[name, value]];
  });
}
