// A ledger in one process's memory that is saved to a file: when it is closed, which breaks the
// port's promise, or before each answer, which keeps it (as long as one process writes).

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Decision, LedgerView } from '../../core/decision.ts';
import type { Digest } from '../../core/digest.ts';
import type { Fact } from '../../core/facts.ts';
import type { Committed, Ledger, Look } from '../../ledger/port.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

export type Saving = 'on_close' | 'before_answer';

interface Saved {
  readonly runId: string;
  readonly decision: Decision<null>;
}

export class BufferingLedger implements Ledger {
  readonly #memory = memoryLedger();
  readonly #log: Saved[] = [];
  readonly #path: string;
  readonly #saving: Saving;

  constructor(path: string, saving: Saving) {
    this.#path = path;
    this.#saving = saving;
    if (!existsSync(path)) return;
    for (const saved of JSON.parse(readFileSync(path, 'utf8'), bytesIn) as Saved[])
      this.#apply(saved);
  }

  get identity() {
    return this.#memory.identity;
  }

  async transact<T>(look: Look, decide: (view: LedgerView) => Decision<T>): Promise<Committed<T>> {
    const decision = this.#memory.decide(look, (view) => ({
      reply: decide(view),
      facts: [],
    }));
    const { runId } = look;
    this.#apply({ runId, decision: { ...decision, reply: null } });
    if (this.#saving === 'before_answer') this.#save();
    const run = this.#memory.run(runId);
    const { now: at, identity } = this.#memory;
    return { reply: decision.reply, head: run.head, ledger: identity, run, at };
  }

  async read(runId: string) {
    return this.#memory.run(runId);
  }

  async facts(runId: string, { after, limit }: { after: number; limit: number }): Promise<Fact[]> {
    return this.#memory.facts(runId).slice(after, after + limit);
  }

  async payload(digest: Digest) {
    return this.#memory.payloads.get(digest) ?? null;
  }

  async runs() {
    return [];
  }

  async close(): Promise<void> {
    this.#save();
  }

  #apply(saved: Saved): void {
    this.#memory.decide({ runId: saved.runId }, () => saved.decision);
    this.#log.push(saved);
  }

  #save(): void {
    // Whole or not at all, whenever the process is killed.
    writeFileSync(`${this.#path}.new`, JSON.stringify(this.#log, bytesOut));
    renameSync(`${this.#path}.new`, this.#path);
  }
}

function bytesOut(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value;
}

function bytesIn(_: string, value: unknown): unknown {
  const { base64 } = (value ?? {}) as { base64?: unknown };
  return typeof base64 === 'string' ? new Uint8Array(Buffer.from(base64, 'base64')) : value;
}
