// Starts the run of one invoice, or attaches to it, and prints how it ended. The number of the
// invoice is the run id, so that doing this twice charges once.

import { clientConfigFrom, createClient } from 'holdfast/client';

const client = await createClient({ config: clientConfigFrom(process.env) });
const order = { card: 'card-7', cents: 1_200 };
const run = await client.start('invoice-42', { workflow: 'invoice', input: order });
const result = await run.result();
console.log(`${result.end.kind}: ${await client.answer(result)}`);
await client.close();
