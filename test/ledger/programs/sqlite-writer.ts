// Writer process of the conformance checks, over SQLite.

import { serveWriter } from '../../../ledger/conformance.ts';
import { openSqliteLedger } from '../../../ledger/sqlite-ledger.ts';

const ledger = await openSqliteLedger({ path: process.argv[2] as string, create: true });
await serveWriter(ledger, { input: process.stdin, output: process.stdout });
