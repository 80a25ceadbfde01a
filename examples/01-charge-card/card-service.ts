// A service that keeps its callers' keys, so that it can be asked and closed: the library of the
// reference receiver with one operation. PORT and STORE say where; prints its address.

import { listenerOf, openReceiver, receiverHandler, serve } from 'holdfast/receiver';
import * as z from 'zod';

const chargeSchema = z.strictObject({ card: z.string(), cents: z.int().positive() });

const receiver = await openReceiver({
  path: process.env['STORE'] ?? 'card-service.db',
  operations: {
    charge_card: {
      version: '1',
      tables: `CREATE TABLE IF NOT EXISTS charge
        (id INTEGER PRIMARY KEY AUTOINCREMENT, card TEXT NOT NULL, cents INTEGER NOT NULL) STRICT;`,
      problem(input) {
        const parsed = chargeSchema.safeParse(input);
        return parsed.success ? null : z.prettifyError(parsed.error);
      },
      // In one transaction with the key and the answer.
      async apply(tx, input) {
        const { card, cents } = chargeSchema.parse(input);
        const sql = 'INSERT INTO charge (card, cents) VALUES (?, ?) RETURNING id';
        const charge = await tx.get(sql, card, cents);
        const id = String(charge?.['id']);
        return { externalId: `charge-${id}`, result: { receipt: `R-${id}` } };
      },
    },
  },
});
const served = await serve(
  listenerOf(receiverHandler(receiver)),
  Number(process.env['PORT'] ?? 8088),
);
console.log(`READY ${served.url}`);
process.once('SIGTERM', async () => {
  await served.stop();
  await receiver.shutdown();
});
