// The suite must be able to fail: a store that answers before it has written is found out.

import { expect, test } from 'vitest';
import { conformanceFailures, type LedgerAdapter } from '../../ledger/conformance.ts';
import { BufferingLedger, type Saving } from './buffering-ledger.ts';
import { newPlace, program } from './places.ts';

const seed = Number(process.env['TEST_SEED'] ?? 1);

function adapter(saving: Saving): LedgerAdapter {
  return {
    name: `a ledger saved ${saving}`,
    newLocation: newPlace,
    open: async (location) => new BufferingLedger(location, saving),
    writerProcess: (location) => program('buffering-writer', location, saving),
  };
}

test('R-061 INV-2 a ledger that answers before it has written fails the suite', async () => {
  const failures = await conformanceFailures(adapter('on_close'), { seed, only: 'R-061' });
  expect(failures.map(({ check }) => check)).toEqual([
    'INV-2 R-061 every commit a killed writer had acknowledged is there, and the run goes on',
  ]);
  expect(String(failures[0]?.error)).toMatch(/acknowledged, and not in the chain/);
}, 60_000);

test('R-061 the same ledger that writes before it answers passes the same check', async () => {
  const failures = await conformanceFailures(adapter('before_answer'), { seed, only: 'R-061' });
  expect(failures).toEqual([]);
}, 60_000);
