// One legal row and every illegal one per record kind. A kind without rows here is a failure.

import { describe, expect, test } from 'vitest';
import { factProblem } from '../../core/fact-rules.ts';
import { type FactKind, factBodySchema } from '../../core/facts.ts';
import { RUN } from '../support/asks.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { doubtRows, observationRows, resolutionRows } from './fact-rules/answer-rows.ts';
import { enteredRows, refusedRows, settledRows } from './fact-rules/attempt-rows.ts';
import type { Row } from './fact-rules/given.ts';
import { judgingRows } from './fact-rules/judging-rows.ts';
import { compensatingRows, disputeRows, distinctRows, twinRows } from './fact-rules/named-rows.ts';
import { preparedRows } from './fact-rules/prepared-rows.ts';
import {
  authorityRows,
  endedRows,
  erasedRows,
  openedRows,
  rejectedRows,
} from './fact-rules/run-rows.ts';

const table: { readonly [K in FactKind]: readonly Row[] } = {
  run_opened: openedRows,
  attempt_entered: [...enteredRows, ...compensatingRows],
  attempt_prepared: preparedRows,
  attempt_refused: [...refusedRows, ...twinRows],
  attempt_settled: [...settledRows, ...judgingRows],
  action_in_doubt: doubtRows,
  observation: observationRows,
  resolution: [...resolutionRows, ...distinctRows, ...disputeRows],
  authority_changed: authorityRows,
  command_rejected: rejectedRows,
  run_ended: endedRows,
  payload_erased: erasedRows,
};

test('R-063 every record kind has its rule, with a legal and an illegal row', () => {
  const kinds = factBodySchema.options.map((option) => option.shape.kind.value);
  expect(Object.keys(table).sort()).toEqual([...kinds].sort());
  for (const [kind, rows] of Object.entries(table)) {
    expect([kind, rows.some(([breaks]) => breaks === null)]).toEqual([kind, true]);
    expect([kind, rows.some(([breaks]) => breaks !== null)]).toEqual([kind, true]);
  }
});

describe.each(Object.entries(table))('%s', (kind, rows) => {
  test.each(rows)('R-062 R-063 breaks: %s – %s', (breaks, _when, given, make) => {
    const ledger = memoryLedger();
    given(ledger);
    const body = make(ledger);
    expect(body.kind).toBe(kind);
    expect(factBodySchema.safeParse(body).error?.issues).toBeUndefined();
    const before = JSON.stringify(ledger.facts(RUN));
    expect(factProblem(ledger.run(RUN), { source: 'history', body })).toBe(breaks);
    if (breaks === null) ledger.write(RUN, { source: 'history', body });
    else expect(() => ledger.write(RUN, { source: 'history', body })).toThrow(breaks);
    if (breaks !== null) expect(JSON.stringify(ledger.facts(RUN))).toBe(before);
  });
});
