// Executes one ticket and dies by SIGKILL right before its n-th statement: on SQLite before a write
// or COMMIT (before a read or a BEGIN the disk is that of the write that follows), on Postgres
// before each of them.
//   node crash-process.mjs <place as JSON> <key> <n>
// Prints DONE when it got through; the answer has then left the receiver.

import { exampleOperations, openReceiver, type StorePlace } from '../../receiver/index.ts';

const [place = '', key = '', killAt = ''] = process.argv.slice(2);
const at = JSON.parse(place) as StorePlace;
const counted = 'postgres' in at ? /./ : /^\s*(INSERT|UPDATE|DELETE|COMMIT)/;
let statements = 0;
let counting = false;
const receiver = await openReceiver({
  ...at,
  operations: exampleOperations(),
  trace(sql) {
    if (!counting || !counted.test(sql)) return;
    statements += 1;
    if (statements === Number(killAt)) process.kill(process.pid, 'SIGKILL');
  },
});
counting = true;
const answer = await receiver.execute({
  ...{ principal: 'u1', operation: 'open_ticket', version: '1', key },
  input: { subject: 'Printer' },
});
process.stdout.write(`DONE ${answer.kind} ${statements}\n`);
await receiver.shutdown();
