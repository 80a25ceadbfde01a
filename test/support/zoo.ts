// A small receiver over HTTP, in memory, with keys, closings and fences. As it stands it keeps its
// word; each habit that is replaced makes a liar of one kind. A kill takes what is at work.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { canonicalJson, type Json } from '../../core/digest.ts';
import { compareSendTokens, type SendToken } from '../../core/ids.ts';

export interface Call {
  readonly key: string;
  readonly principal: string;
  readonly run: string;
  readonly token: SendToken;
  readonly payload: string;
  readonly isSlow: boolean;
}

export interface Books {
  /** Payloads, in the order in which they took effect. */
  readonly effects: string[];
  readonly records: Map<string, { readonly payload: string; readonly id: string; at: number }>;
  /** `through: null`: the whole key. */
  readonly closings: Map<string, { readonly through: SendToken | null; readonly at: number }>;
  readonly fences: Map<string, number>;
  readonly atWork: Set<string>;
  now: number;
}

export type Answer = { readonly state: string } & { readonly [field: string]: Json };

export interface Habits {
  identity(call: Pick<Call, 'key' | 'principal'>): string;
  fenced(run: string): string;
  /** What comes without a key. */
  keyless(books: Books, call: Call): Answer;
  /** What an already known key is told; null: it is taken for a new one. */
  replay(known: { readonly payload: string; readonly id: string }, call: Call): Answer | null;
  isClosed(books: Books, identity: string, call: Call): boolean;
  isFenced(books: Books, scope: string, call: Call): boolean;
  carryOut(effect: () => void, record: () => void, books: Books): void | Promise<void>;
  /** What a known or running key is told; null: it is closed. */
  look(books: Books, identity: string, call: Call): Answer | null;
  close(books: Books, identity: string, token: SendToken): Answer;
  kill(books: Books): void;
  sweep(books: Books): void;
}

export const honest: Habits = {
  identity: ({ key, principal }) => `${principal} ${key}`,
  fenced: (run) => run,
  keyless: () => ({ state: 'no_key' }),
  replay: (known, { payload }) =>
    known.payload === payload
      ? { state: 'executed', id: known.id, keyed: true }
      : { state: 'conflict' },
  isClosed(books, identity, { token }) {
    const closed = books.closings.get(identity);
    if (closed === undefined) return false;
    return closed.through === null || compareSendTokens(token, closed.through) <= 0;
  },
  isFenced: (books, scope, { token }) => token.epoch < (books.fences.get(scope) ?? 0),
  carryOut(effect, record) {
    effect();
    record();
  },
  look(books, identity) {
    const known = books.records.get(identity);
    if (known !== undefined) return { state: 'executed', id: known.id };
    return books.atWork.has(identity) ? { state: 'processing' } : null;
  },
  close(books, identity, token) {
    books.closings.set(identity, { through: token, at: books.now });
    return { state: 'closed' };
  },
  kill: () => undefined,
  sweep: () => undefined,
};

export const pause = (ms: number) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms);
  });

const SLOW_MS = 200;

export async function openZoo(replaced: Partial<Habits> = {}) {
  const habits = { ...honest, ...replaced };
  const books: Books = {
    ...{ effects: [], records: new Map(), closings: new Map(), fences: new Map() },
    ...{ atWork: new Set<string>(), now: 0 },
  };
  let life = 1;
  const server = createServer(async (incoming, response) => {
    const lifeThen = life;
    const isAlive = () => life === lifeThen;
    const asked = { books, habits, isAlive };
    const answer = await answerTo(asked, incoming.url ?? '', await callOf(incoming));
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close(() => undefined).closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: (input: Json) => books.effects.filter((one) => one === canonicalJson(input)).length,
    async kill() {
      life += 1;
      server.closeAllConnections();
      books.atWork.clear();
      habits.kill(books);
    },
    async passTime(ms: number) {
      books.now += ms;
      habits.sweep(books);
    },
  };
}

async function callOf(incoming: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const key = String(incoming.headers['idempotency-key'] ?? '');
  return { ...body, key, payload: canonicalJson(body.input), isSlow: body.input.slow === true };
}

interface Asked {
  readonly books: Books;
  readonly habits: Habits;
  /** Of the life in which the request came. */
  isAlive(): boolean;
}

async function answerTo(asked: Asked, path: string, call: Call): Promise<Answer> {
  const { books, habits } = asked;
  const identity = habits.identity(call);
  if (path === '/execute') return execute(asked, identity, call);
  if (path === '/ask') return habits.look(books, identity, call) ?? { state: 'no_record' };
  if (path === '/close')
    return habits.look(books, identity, call) ?? habits.close(books, identity, call.token);
  raise(books, habits.fenced(call.run), call);
  return { state: 'raised' };
}

function raise(books: Books, scope: string, { token }: Call): void {
  books.fences.set(scope, Math.max(token.epoch, books.fences.get(scope) ?? 0));
}

async function execute(asked: Asked, identity: string, call: Call): Promise<Answer> {
  const { books, habits, isAlive } = asked;
  if (call.key === '') return habits.keyless(books, call);
  const known = books.records.get(identity);
  const told = known === undefined ? null : habits.replay(known, call);
  if (told !== null) return told;
  if (books.atWork.has(identity)) return { state: 'processing' };
  const scope = habits.fenced(call.run);
  if (habits.isClosed(books, identity, call)) return { state: 'declined', code: 'closed' };
  if (habits.isFenced(books, scope, call)) return { state: 'declined', code: 'fenced' };
  raise(books, scope, call);
  const id = `effect-${books.effects.length + 1}`;
  const { payload } = call;
  books.atWork.add(identity);
  if (call.isSlow) await pause(SLOW_MS);
  await habits.carryOut(
    () => void (isAlive() && books.effects.push(payload)),
    () => void (isAlive() && books.records.set(identity, { payload, id, at: books.now })),
    books,
  );
  if (isAlive()) books.atWork.delete(identity);
  return { state: 'executed', id, keyed: true };
}
