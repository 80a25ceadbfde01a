// A sender of an outbox as a process:
//   node outbox-sender.mjs <store> <key> <reference|dumb> <url> [before|after]
// Enqueues one intent, sends until it is neither queued nor under way, prints its state. With
// `before` or `after` it dies by SIGKILL right before it delivers, or right after the service has
// answered.

import { setTimeout as pause } from 'node:timers/promises';
import type { ContractInput } from '../../core/contract.ts';
import { openOutbox, openStore, type Sending, type SendOutcome } from '../../receiver/index.ts';
import { send } from './receiver-call.ts';

const [path = '', key = '', kind = '', url = '', dies = ''] = process.argv.slice(2);
const LEASE_MS = 1_000;
const keyed: ContractInput = {
  scope: { receiver: 'reference', account: 'a1', workspace: 'w1', region: 'local' },
  identity: { travelsAs: 'header Idempotency-Key' },
  retentionMs: 86_400_000,
};

const deliver: Record<string, (sending: Sending) => Promise<SendOutcome>> = {
  async reference({ key: of, principal, payload }) {
    const input = JSON.parse(payload);
    const reply = await send(url, { operation: 'open_ticket', key: of, principal, input });
    if (reply.status !== 200) throw new Error(`status ${reply.status}`);
    return { kind: 'executed', externalId: String(reply.body?.['external_id']) };
  },
  async dumb({ payload }) {
    const reply = await fetch(`${url}/send`, { method: 'POST', body: payload });
    if (reply.status !== 200) throw new Error(`status ${reply.status}`);
    return { kind: 'executed' };
  },
};

const store = await openStore(
  { path },
  { busyTimeoutMs: 5_000, transactionMs: 30_000, tables: () => [] },
);
const outbox = await openOutbox({
  store,
  mayStillSend: async () => ({ kind: 'yes' }),
  leaseMs: LEASE_MS,
  windowMs: LEASE_MS,
  pauseMs: 10,
  receivers: {
    service: {
      ...(kind === 'reference' ? { contract: keyed } : {}),
      async send(sending) {
        if (dies === 'before') process.kill(process.pid, 'SIGKILL');
        sending.beforeSend();
        const outcome = await deliver[kind]?.(sending);
        if (dies === 'after') process.kill(process.pid, 'SIGKILL');
        if (outcome === undefined) throw new Error(`no service ${kind}`);
        return outcome;
      },
    },
  },
});
const payload = JSON.stringify({ to: 'a@example.com', subject: key, body: '' });
const committed = await store.transaction((tx) =>
  outbox.enqueue(tx, { key, receiver: 'service', principal: 'ada', payload }),
);
if (committed.kind !== 'committed') throw new Error(`not enqueued: ${committed.kind}`);
for (;;) {
  const { state } = (await outbox.intent(key)) ?? { state: 'gone' };
  if (state !== 'queued' && state !== 'sending') {
    process.stdout.write(`DONE ${state}\n`);
    break;
  }
  if ((await outbox.sendNext()) === null) await pause(LEASE_MS / 10);
}
await store.close();
