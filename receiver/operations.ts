// Example operations, small enough to read and real enough to count: tests and the demo use them.

import * as z from 'zod';
import type { Json } from '../core/digest.ts';
import type {
  Applied,
  EffectContext,
  EffectTx,
  LocalOperation,
  Operations,
  Rejection,
} from './operation.ts';

const MARKS = 'principal TEXT, key TEXT, token_epoch INTEGER, token_number INTEGER';

export interface ExampleOptions {
  /** Value of a counter or account nobody has touched. */
  readonly counterInitial?: number;
  readonly accountInitial?: number;
}

interface Definition<T> {
  readonly input: z.ZodType<T>;
  readonly tables: string;
  apply(tx: EffectTx, input: T, context: EffectContext): Applied | Rejection;
  observe(tx: EffectTx): Json;
}

/** A local operation of version 1 whose input is checked by a zod schema. */
function operation<T>(definition: Definition<T>): LocalOperation {
  const { input: schema, tables, apply, observe } = definition;
  return {
    version: '1',
    tables,
    observe,
    problem(input) {
      const parsed = schema.safeParse(input);
      return parsed.success ? null : z.prettifyError(parsed.error);
    },
    apply: (tx, input, context) => apply(tx, schema.parse(input), context),
  };
}

function marksOf(context: EffectContext) {
  const { principal, key, sendToken } = context;
  return [principal, key, sendToken?.epoch ?? null, sendToken?.number ?? null] as const;
}

function count(tx: EffectTx, table: string): number {
  return Number(tx.get(`SELECT count(*) AS n FROM ${table}`)?.['n']);
}

/** A new ticket also notifies: deleting one of two tickets does not take its notification back. */
const openTicket = operation({
  input: z.looseObject({ subject: z.string() }),
  tables: `CREATE TABLE IF NOT EXISTS ticket (id INTEGER PRIMARY KEY AUTOINCREMENT,
      subject TEXT NOT NULL, input TEXT NOT NULL, ${MARKS}) STRICT;
    CREATE TABLE IF NOT EXISTS notification (id INTEGER PRIMARY KEY AUTOINCREMENT,
      ticket INTEGER NOT NULL, ${MARKS}) STRICT;`,
  apply(tx, input, context) {
    const marks = marksOf(context);
    const { lastId } = tx.run(
      `INSERT INTO ticket (subject, input, principal, key, token_epoch, token_number)
       VALUES (?, ?, ?, ?, ?, ?)`,
      input.subject,
      JSON.stringify(input),
      ...marks,
    );
    tx.run(
      `INSERT INTO notification (ticket, principal, key, token_epoch, token_number)
       VALUES (?, ?, ?, ?, ?)`,
      lastId,
      ...marks,
    );
    return { externalId: `ticket-${lastId}`, result: { ticket: `ticket-${lastId}` } };
  },
  observe: (tx) => ({ tickets: count(tx, 'ticket'), notifications: count(tx, 'notification') }),
});

const createRecord = operation({
  input: z.looseObject({ name: z.string() }),
  tables: `CREATE TABLE IF NOT EXISTS record (id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL, ${MARKS}) STRICT;`,
  apply(tx, { name }, context) {
    const { lastId } = tx.run(
      `INSERT INTO record (name, principal, key, token_epoch, token_number)
       VALUES (?, ?, ?, ?, ?)`,
      name,
      ...marksOf(context),
    );
    return { externalId: `record-${lastId}`, objectVersion: '1', result: { name } };
  },
  observe: (tx) => ({
    records: tx.all('SELECT name FROM record ORDER BY id').map((row) => String(row['name'])),
  }),
});

/** Counters and accounts are the same table twice: a name, an integer, a version. */
function balanceTable(table: string, initial: number) {
  return {
    tables: `CREATE TABLE IF NOT EXISTS ${table} (principal TEXT NOT NULL, name TEXT NOT NULL,
        value INTEGER NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (principal, name)) STRICT;
      CREATE TABLE IF NOT EXISTS ${table}_change (id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL, delta INTEGER NOT NULL, ${MARKS}) STRICT;`,
    change(tx: EffectTx, name: string, delta: number, context: EffectContext) {
      const row = tx.get(
        `INSERT INTO ${table} (principal, name, value, version) VALUES (?, ?, ?, 1)
         ON CONFLICT DO UPDATE SET value = value + ?, version = version + 1
         RETURNING value, version`,
        context.principal,
        name,
        initial + delta,
        delta,
      );
      tx.run(
        `INSERT INTO ${table}_change (name, delta, principal, key, token_epoch, token_number)
         VALUES (?, ?, ?, ?, ?, ?)`,
        name,
        delta,
        ...marksOf(context),
      );
      return { value: Number(row?.['value']), version: String(row?.['version']) };
    },
    values(tx: EffectTx): Json {
      const rows = tx.all(`SELECT principal, name, value FROM ${table} ORDER BY principal, name`);
      return rows.map((row) => ({
        principal: String(row['principal']),
        name: String(row['name']),
        value: Number(row['value']),
      }));
    },
  };
}

function addTo(initial: number): LocalOperation {
  const counters = balanceTable('counter', initial);
  return operation({
    input: z.object({ counter: z.string().min(1), delta: z.int() }),
    tables: counters.tables,
    apply(tx, { counter, delta }, context) {
      const { value, version } = counters.change(tx, counter, delta, context);
      return { externalId: `${counter}@${version}`, objectVersion: version, result: { value } };
    },
    observe: (tx) => ({ counters: counters.values(tx) }),
  });
}

function creditTo(initial: number): LocalOperation {
  const accounts = balanceTable('account', initial);
  return operation({
    input: z.object({ account: z.string().min(1), amount: z.int() }),
    tables: accounts.tables,
    apply(tx, { account, amount }, context) {
      const { value, version } = accounts.change(tx, account, amount, context);
      if (value < 0) {
        const message = `account ${account} would be at ${value}`;
        return { rejected: { code: 'insufficient_funds', message } };
      }
      const result = { balance: value };
      return { externalId: `${account}@${version}`, objectVersion: version, result };
    },
    observe: (tx) => ({ accounts: accounts.values(tx) }),
  });
}

/** Has no result: its answer is 204. */
const sendNotice = operation({
  input: z.looseObject({ to: z.string().min(1) }),
  tables: `CREATE TABLE IF NOT EXISTS notice (id INTEGER PRIMARY KEY AUTOINCREMENT,
      recipient TEXT NOT NULL, input TEXT NOT NULL, ${MARKS}) STRICT;`,
  apply(tx, input, context) {
    const { lastId } = tx.run(
      `INSERT INTO notice (recipient, input, principal, key, token_epoch, token_number)
       VALUES (?, ?, ?, ?, ?, ?)`,
      input.to,
      JSON.stringify(input),
      ...marksOf(context),
    );
    return { externalId: `notice-${lastId}` };
  },
  observe: (tx) => ({ notices: count(tx, 'notice') }),
});

export function exampleOperations(options: ExampleOptions = {}): Operations {
  return {
    open_ticket: openTicket,
    create_record: createRecord,
    add: addTo(options.counterInitial ?? 0),
    credit: creditTo(options.accountInitial ?? 100),
    send_notice: sendNotice,
  };
}
