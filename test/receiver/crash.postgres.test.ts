// Catches: an effect without its record, or a record without its effect, after a death anywhere,
// with the server left to find out that its client is gone.

import { expect, test } from 'vitest';
import { type Call, send } from '../support/receiver-call.ts';
import { startReceiver } from '../support/receiver-process.ts';
import { crashRules, wholeKeys } from './crashes.testsuite.ts';
import { openOnPostgres, postgresPlace } from './postgres-place.ts';

// BEGIN, arrival, COMMIT; BEGIN, row, its lock, SAVEPOINT, ticket, notification, RELEASE, record,
// effect, what it is now, arrival's answer, COMMIT.
crashRules(openOnPostgres, 15);

const ticket: Call = { operation: 'open_ticket', key: 'k', input: { subject: 'Printer' } };

test('R-028 A4 50 requests with one key at two processes have one effect', async () => {
  const place = postgresPlace();
  const flags = ['--postgres', place.at.postgres, '--schema', place.at.schema];
  const receivers = await Promise.all([startReceiver({ flags }), startReceiver({ flags })]);
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, i) => send(receivers[i % 2]?.url ?? '', ticket)),
  );
  const states = replies.map(({ headers }) => headers.get('idempotency-status'));
  expect(states.filter((state) => state === 'executed')).toHaveLength(1);
  expect(['executed', 'replayed', 'in_progress']).toEqual(expect.arrayContaining(states));
  expect(await wholeKeys(place)).toEqual(['k']);
  for (const receiver of receivers) await receiver.stop();
});
