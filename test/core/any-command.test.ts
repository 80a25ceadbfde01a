// Commands come from anybody: whatever JSON arrives is judged without a throw, and what is taken
// can be written down.

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalProblem } from '../../core/digest.ts';
import { factBodySchema } from '../../core/facts.ts';
import { spoilers } from '../support/command-spoilers.ts';
import { type CommandRow, commandTable } from '../support/command-table.ts';

const about = { runId: 'r', actionId: 'r.t1.c1' };
const rows = Object.entries(commandTable).map(([name, row]) => ({ name, row }));

/** Throws where judging it does. */
function judged({ schema }: CommandRow, text: string): unknown {
  const parsed = schema.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : null;
}

describe.each(rows)('R-134 $name', ({ row }) => {
  const nearly = fc
    .tuple(row.wellFormed(about), fc.constantFrom(...Object.values(spoilers)))
    .chain(([command, spoil]) => spoil(command));

  test('any JSON is judged without a throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json({ stringUnit: 'binary' }), nearly), (text) => {
        judged(row, text);
      }),
      { numRuns: 150 },
    );
  });

  test('a well-formed one is taken as it is', () => {
    fc.assert(
      fc.property(row.wellFormed(about), (command) => {
        expect(judged(row, JSON.stringify(command))).toEqual(command);
      }),
    );
  });

  test('whatever is taken has a canonical form, and fits a fact', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          nearly,
          row.wellFormed(about).map((each) => JSON.stringify(each)),
        ),
        (text) => {
          const taken = judged(row, text);
          if (taken === null) return;
          expect(canonicalProblem(taken)).toBe(null);
          const { actor, reason, id } = taken as Record<string, unknown>;
          if (row.isHint) return;
          const revisions = { goal: 1, auth: 1 };
          const body = {
            kind: 'authority_changed',
            change: 'revoke',
            commandId: id,
            actor,
            reason,
          };
          const whole = { ...body, position: null, revisions, ticket: null };
          expect(factBodySchema.parse(whole)).toMatchObject({ commandId: id, actor, reason });
        },
      ),
      { numRuns: 150 },
    );
  });

  test.each(['__proto__', 'constructor', 'toString', 'then'])(
    'a field %s more is refused',
    (key) => {
      fc.assert(
        fc.property(row.wellFormed(about), (command) => {
          const text = `{${JSON.stringify(key)}:{},${JSON.stringify(command).slice(1)}`;
          expect(judged(row, text)).toBe(null);
        }),
        { numRuns: 20 },
      );
    },
  );
});
