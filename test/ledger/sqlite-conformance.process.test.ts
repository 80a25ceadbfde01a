import { describe, it } from 'vitest';
import { ledgerConformance } from '../../ledger/conformance.ts';
import { sqliteAdapter } from './sqlite-adapter.ts';

ledgerConformance(sqliteAdapter, { describe, it }, Number(process.env['TEST_SEED'] ?? 1));
