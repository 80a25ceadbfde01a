// Executes one ticket and dies by SIGKILL right before its n-th write or COMMIT. A death before a
// read or a BEGIN leaves the same disk as one before the write that follows.
//   node --import tsx test/receiver/crash-process.ts <store> <key> <n>
// Prints DONE when it got through; the answer has then left the receiver.

import { exampleOperations, openReceiver } from '../../receiver/index.ts';

const [path = '', key = '', killAt = ''] = process.argv.slice(2);
let statements = 0;
let counting = false;
const receiver = await openReceiver({
  path,
  operations: exampleOperations(),
  trace(sql) {
    if (!counting || !/^\s*(INSERT|UPDATE|DELETE|COMMIT)/.test(sql)) return;
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
