// Checks of what is written: all of a decision or nothing, numbered and chained, once per attempt.

import { strict as assert } from 'node:assert';
import { genesisHash } from '../../core/chain.ts';
import type { Decision, LedgerView } from '../../core/decision.ts';
import { canonicalBytes, digestOfBytes } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import type { Check } from '../conformance.ts';
import type { Ledger } from '../port.ts';
import { assertRefused, check, enterOne, one, other, runId, two, write } from './in-process.ts';
import * as sample from './sample-facts.ts';

export const writeChecks: readonly Check[] = [
  check('INV-4 facts are numbered from 1 and each carries the digest of the one before', chain),
  check('INV-3 when the decision throws, its error comes back and nothing is written', throwing),
  check('INV-3 a fact that breaks a rule takes the whole transaction with it', ruleBroken),
  check('INV-3 a payload whose bytes have another digest takes the facts with it', badPayload),
  check('R-018 a payload over the limit is refused and nothing is written', largePayload),
  check('R-068 payload bytes come back as they were, and nothing for an unknown digest', payloads),
  check('INV-7 payload bytes go by payload_erased, unless an open run refers to them', erasing),
  check('INV-5 an attempt gets no second gate row, of whatever kind', gateRows),
];

async function chain(ledger: Ledger): Promise<void> {
  const first = await enterOne(ledger);
  const last = await write(ledger, [sample.settled(one, sample.payloadOf('done'))]);
  const facts = await ledger.facts(runId, { after: 0, limit: 10 });
  assert.deepEqual(
    facts.map((fact) => fact.seq),
    [1, 2, 3],
  );
  let prev = genesisHash(runId);
  for (const fact of facts) {
    assert.equal(fact.prev, prev);
    prev = digestOfBytes(canonicalBytes(fact));
  }
  assert.deepEqual(last.head, { count: 3, hash: prev });
  assert.deepEqual((await ledger.read(runId)).head, last.head);
  assert.deepEqual(last.run, await ledger.read(runId));
  assert.equal(first.head.count, 2);
  assert.deepEqual(await ledger.facts(runId, { after: 1, limit: 1 }), [facts[1]]);
  assert.deepEqual(await ledger.facts(runId, { after: 3, limit: 5 }), []);
}

/** Nothing of the run, of step one's gate row or of the payload is there. */
async function assertNothing(ledger: Ledger, payload = sample.inputOf(one)): Promise<void> {
  const look = { runId, attemptId: sample.attemptOf(one) };
  const { reply } = await ledger.transact(look, (view) => ({ reply: view, facts: [] }));
  assert.equal(reply.run.head.count, 0);
  assert.equal(reply.gateRow, null);
  assert.equal(await ledger.payload(payload.digest), null);
  assert.deepEqual(await ledger.runs(10), []);
}

async function throwing(ledger: Ledger): Promise<void> {
  const thrown = new Error('no decision');
  const attempt = ledger.transact({ runId }, () => {
    throw thrown;
  });
  await assert.rejects(attempt, (error) => error === thrown);
  await assertNothing(ledger);
  assert.equal((await enterOne(ledger)).head.count, 2, 'the ledger goes on');
}

function broken(view: LedgerView, more: Partial<Decision<null>>): Decision<null> {
  return {
    reply: null,
    facts: [sample.opened(view.ledger), sample.entered(one)],
    gateRows: [sample.enteredRow(one)],
    payloads: [sample.inputOf(one)],
    ...more,
  };
}

async function ruleBroken(ledger: Ledger): Promise<void> {
  const attempt = ledger.transact({ runId }, (view) =>
    broken(view, { facts: [sample.opened(view.ledger), sample.orphanResult(runId)] }),
  );
  await assertRefused('rule_violation', attempt);
  await assertNothing(ledger);
}

async function badPayload(ledger: Ledger): Promise<void> {
  const lie = { ...sample.payloadOf('one'), bytes: canonicalBytes('another') };
  const attempt = ledger.transact({ runId }, (view) =>
    broken(view, { payloads: [sample.inputOf(one), lie] }),
  );
  await assertRefused('rule_violation', attempt);
  await assertNothing(ledger);
}

async function largePayload(ledger: Ledger): Promise<void> {
  const bytes = new Uint8Array(limits.ledgerPayloadBytesMax + 1);
  const large = { digest: digestOfBytes(bytes), bytes };
  const attempt = ledger.transact({ runId }, (view) => broken(view, { payloads: [large] }));
  await assertRefused('payload_too_large', attempt);
  await assertNothing(ledger, large);
}

async function payloads(ledger: Ledger): Promise<void> {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  const stored = { digest: digestOfBytes(bytes), bytes };
  for (let time = 1; time <= 2; time++)
    await ledger.transact({ runId }, () => ({ reply: null, facts: [], payloads: [stored] }));
  assert.deepEqual(new Uint8Array((await ledger.payload(stored.digest)) ?? []), bytes);
  assert.equal(await ledger.payload(sample.payloadOf('unknown').digest), null);
}

async function erasing(ledger: Ledger): Promise<void> {
  const result = sample.payloadOf('a secret');
  for (const step of [one, other]) {
    await enterOne(ledger, step);
    await ledger.transact({ runId: step.runId }, () => ({
      reply: null,
      facts: [sample.settled(step, result)],
      payloads: [result],
    }));
  }
  await write(ledger, [sample.ended()]);
  await assertRefused('rule_violation', write(ledger, [sample.erased(result)]));
  assert(await ledger.payload(result.digest), 'the other run is open and refers to it');
  await write(ledger, [sample.ended()], other.runId);
  const { run } = await write(ledger, [sample.erased(result)]);
  assert(run.erased.has(result.digest));
  assert.equal(await ledger.payload(result.digest), null);
}

async function gateRows(ledger: Ledger): Promise<void> {
  await enterOne(ledger);
  const row = sample.enteredRow(one);
  const closing = { ...row, kind: 'closed' as const, verdict: 'revoked' as const, inChain: true };
  for (const second of [row, closing]) {
    const attempt = ledger.transact({ runId }, () => ({
      reply: null,
      facts: [sample.entered(two)],
      gateRows: [sample.enteredRow(two), second],
    }));
    await assertRefused('rule_violation', attempt);
  }
  const look = { runId, attemptId: sample.attemptOf(one) };
  const { reply, run } = await ledger.transact(look, (view) => ({
    reply: view.gateRow,
    facts: [],
  }));
  assert.deepEqual(reply, row);
  assert.equal(run.head.count, 2);
}
