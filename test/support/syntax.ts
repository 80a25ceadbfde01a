// Syntax trees of our own files, for the checks that read code: test titles and tidiness rules.

import { parseAst } from 'vitest/node';

/** An ESTree node with TypeScript's additions; `start` and `end` are offsets into the text. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** Throws with the file's path when the text is no valid TypeScript. */
export function parseFile(path: string, text: string): SyntaxNode {
  try {
    const tree: unknown = parseAst(text, { lang: path.endsWith('.ts') ? 'ts' : 'js' });
    return tree as SyntaxNode;
  } catch (error) {
    throw new Error(`${path} does not parse: ${String(error)}`);
  }
}

/** Visits `node` and all below it, parents first; `ancestors` holds the nearest parent last. */
export function walk(
  node: SyntaxNode,
  visit: (node: SyntaxNode, ancestors: readonly SyntaxNode[]) => void,
  ancestors: readonly SyntaxNode[] = [],
): void {
  visit(node, ancestors);
  const inner = [...ancestors, node];
  for (const child of childrenOf(node)) walk(child, visit, inner);
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** What stands under `key`, of whatever type. */
export function valueAt(node: SyntaxNode | null, key: string): unknown {
  return node?.[key];
}

/** The node under `key`, or null. */
export function nodeAt(node: SyntaxNode | null, key: string): SyntaxNode | null {
  const value = valueAt(node, key);
  return isNode(value) ? value : null;
}

/** The nodes of the list under `key`; holes are left out. */
export function nodesAt(node: SyntaxNode | null, key: string): SyntaxNode[] {
  const value = valueAt(node, key);
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Name of an identifier or of a property, or null. */
export function nameOf(node: SyntaxNode | null): string | null {
  return node?.type === 'Identifier' ? String(valueAt(node, 'name')) : stringOf(node);
}

/** Value of a string literal, or null. */
export function stringOf(node: SyntaxNode | null): string | null {
  const value = node?.type === 'Literal' ? valueAt(node, 'value') : null;
  return typeof value === 'string' ? value : null;
}

/** `a.b` for a plain member access and `a` for an identifier, else null. */
export function dottedName(node: SyntaxNode | null): string | null {
  if (node?.type === 'Identifier') return nameOf(node);
  if (node?.type !== 'MemberExpression' || valueAt(node, 'computed') === true) return null;
  const object = dottedName(nodeAt(node, 'object'));
  return object === null ? null : `${object}.${nameOf(nodeAt(node, 'property'))}`;
}

/** Strips `as const`, `satisfies T`, `!` and parentheses. */
export function bare(node: SyntaxNode | null): SyntaxNode | null {
  const wrappers = ['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'];
  const wrapped = node !== null && [...wrappers, 'ParenthesizedExpression'].includes(node.type);
  return wrapped ? bare(nodeAt(node, 'expression')) : node;
}

/** 1-based line of an offset. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
