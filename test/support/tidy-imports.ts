// The import table of the rooms: who may import whom. A room is where code runs.

import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import { nodeAt, nodesAt, parseFile, type SyntaxNode, stringOf, valueAt, walk } from './syntax.ts';

interface ImportRef {
  /** Null for an `import()` of something computed. */
  readonly specifier: string | null;
  readonly typeOnly: boolean;
  readonly offset: number;
}

interface RoomRule {
  /** Package names or scopes (`@ai-sdk/`); `'any'` with exceptions in `packagesNever`. */
  readonly packages: 'any' | readonly string[];
  readonly packagesNever?: readonly string[];
  readonly node: boolean;
  /** Rooms (`core/`) or single files (`workflows/messages.ts`). */
  readonly rooms: readonly string[];
  /** What `import type` may name beyond the above. */
  readonly types?: 'any';
  readonly computed?: true;
}

const sqlDrivers = ['better-sqlite3', 'kysely', 'pg'];
const testTools = ['vitest', 'fast-check', '@temporalio/testing'];
/** The ledger's port: what the gate's activities see of it. */
const ledgerPort = ['ledger/port.ts'];
/** Clients open a ledger themselves: to read it and to write commands of people. */
const ledgerForClients = ['ledger/port.ts', 'ledger/open.ts', 'ledger/index.ts'];

/** zod is a pure schema library and allowed wherever code meets data from outside. */
export const importTable: Readonly<Record<string, RoomRule>> = {
  core: {
    packages: ['zod', '@noble/hashes', 'canonicalize'],
    node: false,
    rooms: ['core/'],
  },
  ledger: {
    packages: ['zod', ...sqlDrivers],
    node: true,
    rooms: ['core/', 'ledger/'],
  },
  workflows: {
    packages: ['@temporalio/workflow', '@temporalio/common'],
    node: false,
    rooms: ['core/', 'workflows/'],
    types: 'any',
  },
  activities: {
    packages: 'any',
    packagesNever: [...sqlDrivers, ...testTools, '@temporalio/workflow', '@temporalio/worker'],
    node: true,
    rooms: ['core/', 'activities/', ...ledgerPort],
  },
  receiver: {
    packages: ['zod', ...sqlDrivers],
    node: true,
    rooms: ['core/', 'receiver/'],
  },
  workers: {
    packages: 'any',
    packagesNever: testTools,
    node: true,
    rooms: ['core/', 'ledger/', 'workflows/', 'activities/', 'receiver/', 'workers/'],
    computed: true,
  },
  client: {
    packages: ['zod', '@temporalio/client', '@temporalio/common', '@temporalio/proto', 'commander'],
    node: true,
    rooms: ['core/', 'client/', 'workflows/messages.ts', ...ledgerForClients],
  },
};

export interface ImportFinding {
  readonly offset: number;
  readonly message: string;
}

/** Breaches of the table in one file; files outside the rooms import what they like. */
export function importFindings(path: string, text: string): ImportFinding[] {
  const room = path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
  const rule = importTable[room];
  const refs = importsOf(parseFile(path, text));
  return refs.flatMap(({ specifier, typeOnly, offset }) => {
    const why = specifier === null ? computedProblem(rule) : problem(path, specifier, typeOnly);
    return why === null ? [] : [{ offset, message: `${room || 'this'} ${why}` }];
  });
}

function computedProblem(rule: RoomRule | undefined): string | null {
  if (rule === undefined || rule.computed === true) return null;
  return 'may not import() a computed name: the table cannot be checked; name the file';
}

function problem(path: string, specifier: string, typeOnly: boolean): string | null {
  const rule = importTable[path.slice(0, path.indexOf('/'))];
  if (/^(node:)?readline(\/|$)/.test(specifier))
    return 'may not read lines with readline: it also breaks at U+2028; split bytes at 0x0A';
  if (rule === undefined) return null;
  if (typeOnly && rule.types === 'any') return null;
  if (specifier.startsWith('.')) {
    const target = posix.normalize(posix.join(posix.dirname(path), specifier));
    const within = (room: string) =>
      target === room || (room.endsWith('/') && target.startsWith(room));
    return rule.rooms.some(within) ? null : `may not import ${target}`;
  }
  if (specifier.startsWith('node:') || builtinModules.includes(specifier))
    return rule.node ? null : `may not import ${specifier}: no Node built-ins here`;
  const within = (name: string) => specifier === name || specifier.startsWith(`${name}/`);
  const allowed = rule.packages === 'any' || rule.packages.some(within);
  return allowed && !rule.packagesNever?.some(within) ? null : `may not import ${specifier}`;
}

function importsOf(root: SyntaxNode): ImportRef[] {
  const refs: ImportRef[] = [];
  walk(root, (node) => {
    const ref = importAt(node);
    if (ref !== null) refs.push({ ...ref, offset: node.start });
  });
  return refs;
}

/** `import { type A }` counts as a value import: it stays in the output as a side effect. */
function importAt(node: SyntaxNode): Omit<ImportRef, 'offset'> | null {
  const source = stringOf(nodeAt(node, 'source'));
  switch (node.type) {
    case 'ImportDeclaration':
      return { specifier: source, typeOnly: valueAt(node, 'importKind') === 'type' };
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      if (nodeAt(node, 'source') === null) return null;
      return { specifier: source, typeOnly: valueAt(node, 'exportKind') === 'type' };
    case 'ImportExpression':
      return { specifier: source, typeOnly: false };
    case 'TSImportType':
      return { specifier: source, typeOnly: true };
    case 'CallExpression': {
      const callee = nodeAt(node, 'callee');
      if (callee?.type !== 'Identifier' || valueAt(callee, 'name') !== 'require') return null;
      return { specifier: stringOf(nodesAt(node, 'arguments')[0] ?? null), typeOnly: false };
    }
    default:
      return null;
  }
}
