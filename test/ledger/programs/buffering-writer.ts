// Writer process of the conformance checks, over the ledger that buffers.

import { serveWriter } from '../../../ledger/conformance.ts';
import { BufferingLedger, type Saving } from '../buffering-ledger.ts';

const [path, saving] = process.argv.slice(2) as [string, Saving];
const ledger = new BufferingLedger(path, saving);
await serveWriter(ledger, { input: process.stdin, output: process.stdout });
