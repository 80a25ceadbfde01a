// Names of a record's fields and the words that they may hold, one a line.

import * as z from 'zod';
import { factBodySchema } from '../../core/facts.ts';

type Node = Partial<{
  properties: Record<string, Node>;
  items: Node;
  anyOf: Node[];
  oneOf: Node[];
  enum: unknown[];
  const: unknown;
}>;

/** Every field by its path, and every word that a field may hold. */
function namesOf(path: string, node: Node): string[] {
  const words = node.enum ?? (node.const === undefined ? [] : [node.const]);
  return [
    ...words.map((word) => `${path} = ${word}`),
    ...Object.entries(node.properties ?? {}).flatMap(([name, inner]) => [
      `${path}.${name}`,
      ...namesOf(`${path}.${name}`, inner),
    ]),
    ...[...(node.anyOf ?? []), ...(node.oneOf ?? [])].flatMap((inner) => namesOf(path, inner)),
    ...(node.items === undefined ? [] : namesOf(`${path}[]`, node.items)),
  ];
}

export function goldenOf(name: string, schema: z.ZodType): string {
  const node = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as Node;
  return [...new Set(namesOf(name, node))].join('\n');
}

/** Of the kinds that are about attempts, or of all others. */
export function kindsOf(which: 'attempts' | 'others'): string {
  return factBodySchema.options
    .map((option) => [option.shape.kind.value, option] as const)
    .filter(([kind]) => kind.startsWith('attempt_') === (which === 'attempts'))
    .map(([kind, option]) => goldenOf(kind, option))
    .join('\n');
}
