// Titles of the tests in a file, as the test runner would see them, from the syntax tree: comments
// and strings elsewhere never count. Interpolations that only run time knows become "…".

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
import { calleeRoot } from './tidy-code.ts';

export interface TestTitle {
  readonly title: string;
  readonly kind: 'test' | 'group';
  readonly line: number;
  /** Skipped, todo or conditional, itself or by a group around it; or a group with no live test. */
  readonly skipped: boolean;
}

interface Found {
  readonly node: SyntaxNode;
  readonly kind: TestTitle['kind'];
  readonly titles: readonly string[];
  readonly skipped: boolean;
}

const modifiersOff = /\.(skip|todo|skipIf|runIf|fails)\b/;
const MORE = '…';

export function testTitles(path: string, text: string): TestTitle[] {
  const root = parseFile(path, text);
  const tables = constantsOf(root);
  const found: Found[] = [];
  walk(root, (node, parents) => {
    const one = foundAt(node, tables);
    if (one === null) return;
    const around = found.filter((group) => parents.includes(group.node));
    found.push({ ...one, skipped: one.skipped || around.some((group) => group.skipped) });
  });
  const live = found.filter(({ kind, skipped }) => kind === 'test' && !skipped);
  const holdsLive = ({ start, end }: SyntaxNode) =>
    live.some((test) => test.node.start > start && test.node.end <= end);
  return found.flatMap(({ node, kind, titles, skipped }) =>
    titles.map((title) => ({
      title,
      kind,
      line: text.slice(0, node.start).split('\n').length,
      skipped: skipped || (kind === 'group' && !holdsLive(node)),
    })),
  );
}

function foundAt(node: SyntaxNode, tables: ReadonlyMap<string, SyntaxNode>): Found | null {
  if (node.type !== 'CallExpression') return null;
  const root = calleeRoot(node);
  if (root === null || !/^(it|test|describe|suite)$/.test(root)) return null;
  const [titleNode, ...rest] = nodesAt(node, 'arguments');
  const title = textOf(titleNode ?? null);
  // `it.each(rows)` and `it.skipIf(x)` are calls too; the one around them has the title.
  if (title === null || title === MORE) return null;
  // `it('title')` without a body is a todo.
  const body = rest.some(({ type }) => type !== 'Literal' && type !== 'ObjectExpression');
  const off = modifiersOff.test(chainOf(nodeAt(node, 'callee'))) || rest.some(turnsOff) || !body;
  const kind = root === 'it' || root === 'test' ? 'test' : 'group';
  return { node, kind, titles: rowTitles(title, nodeAt(node, 'callee'), tables), skipped: off };
}

/** `it.skip.each` of `it.skip.each(rows)`. */
function chainOf(callee: SyntaxNode | null): string {
  const node = bare(callee);
  if (node?.type === 'CallExpression') return chainOf(nodeAt(node, 'callee'));
  if (node?.type === 'TaggedTemplateExpression') return chainOf(nodeAt(node, 'tag'));
  return dottedName(node) ?? '';
}

function turnsOff(argument: SyntaxNode): boolean {
  return nodesAt(argument, 'properties').some((property) => {
    const named = /^(skip|todo|fails)$/.test(nameOf(nodeAt(property, 'key')) ?? '');
    return named && valueAt(nodeAt(property, 'value'), 'value') !== false;
  });
}

/** Text of a literal, template or concatenation; null when it is none of them. */
function textOf(node: SyntaxNode | null): string | null {
  const expression = bare(node);
  const literal = stringOf(expression);
  if (literal !== null) return literal;
  if (expression?.type === 'TemplateLiteral')
    return nodesAt(expression, 'quasis').map(cookedOf).join(MORE);
  if (expression?.type === 'BinaryExpression' && valueAt(expression, 'operator') === '+') {
    const sides = ['left', 'right'].map((side) => textOf(nodeAt(expression, side)) ?? MORE);
    return sides.every((side) => side === MORE) ? null : sides.join('');
  }
  return null;
}

function cookedOf(quasi: SyntaxNode): string {
  const value = valueAt(quasi, 'value') as { cooked?: string | null } | undefined;
  return value?.cooked ?? '';
}

/** One title per row where the table stands in the file and the title has places for its values. */
function rowTitles(
  title: string,
  callee: SyntaxNode | null,
  tables: ReadonlyMap<string, SyntaxNode>,
): string[] {
  const call = bare(callee);
  if (call?.type !== 'CallExpression' || !/[%$]/.test(title)) return [title];
  const [argument] = nodesAt(call, 'arguments').map(bare);
  const named = argument?.type === 'Identifier' ? tables.get(nameOf(argument) ?? '') : argument;
  if (named?.type !== 'ArrayExpression') return [title];
  const rows = nodesAt(named, 'elements');
  return rows.length === 0 ? [title] : rows.map((row) => rowTitle(title, bare(row)));
}

function rowTitle(title: string, row: SyntaxNode | null): string {
  const values = row?.type === 'ArrayExpression' ? nodesAt(row, 'elements') : [row];
  let next = 0;
  const placed = title.replace(/%[sdifjoOc]/g, () => textOf(values[next++] ?? null) ?? MORE);
  if (row?.type !== 'ObjectExpression') return placed;
  return placed.replace(/\$(\w+)/g, (whole, name: string) => {
    const property = nodesAt(row, 'properties').find((one) => nameOf(nodeAt(one, 'key')) === name);
    return property === undefined ? whole : (textOf(nodeAt(property, 'value')) ?? MORE);
  });
}

/** `const rows = […]` anywhere in the file. */
function constantsOf(root: SyntaxNode): Map<string, SyntaxNode> {
  const constants = new Map<string, SyntaxNode>();
  walk(root, (node) => {
    if (node.type !== 'VariableDeclarator') return;
    const name = nameOf(nodeAt(node, 'id'));
    const value = bare(nodeAt(node, 'init'));
    if (name !== null && value !== null) constants.set(name, value);
  });
  return constants;
}
