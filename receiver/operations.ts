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
  SqlValue,
  TableWords,
} from './operation.ts';

/** Each row names the operation that made it (B12). */
function marks({ integer }: TableWords): string {
  return `principal TEXT, key TEXT, token_epoch ${integer}, token_number ${integer}`;
}

export interface ExampleOptions {
  /** Value of a counter or account nobody has touched. */
  readonly counterInitial?: number;
  readonly accountInitial?: number;
}

interface Definition<T> {
  readonly input: z.ZodType<T>;
  readonly tables: (words: TableWords) => string;
  apply(tx: EffectTx, input: T, context: EffectContext): Promise<Applied | Rejection>;
  observe(tx: EffectTx): Promise<Json>;
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

async function count(tx: EffectTx, table: string): Promise<number> {
  const row = await tx.get(`SELECT count(*) AS n FROM ${table}`);
  return Number(row?.['n']);
}

async function inserted(tx: EffectTx, sql: string, ...values: SqlValue[]): Promise<number> {
  const row = await tx.get(sql, ...values);
  return Number(row?.['id']);
}

/** A new ticket also notifies: deleting one of two tickets does not take its notification back. */
const openTicket = operation({
  input: z.looseObject({ subject: z.string() }),
  tables: (words) => `CREATE TABLE IF NOT EXISTS ticket (id ${words.serial},
      subject TEXT NOT NULL, input TEXT NOT NULL, ${marks(words)}) ${words.strict};
    CREATE TABLE IF NOT EXISTS notification (id ${words.serial},
      ticket ${words.integer} NOT NULL, ${marks(words)}) ${words.strict};`,
  async apply(tx, input, context) {
    const id = await inserted(
      tx,
      `INSERT INTO ticket (subject, input, principal, key, token_epoch, token_number)
       VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
      input.subject,
      JSON.stringify(input),
      ...marksOf(context),
    );
    await tx.run(
      `INSERT INTO notification (ticket, principal, key, token_epoch, token_number)
       VALUES (?, ?, ?, ?, ?)`,
      id,
      ...marksOf(context),
    );
    return { externalId: `ticket-${id}`, result: { ticket: `ticket-${id}` } };
  },
  async observe(tx) {
    const tickets = await count(tx, 'ticket');
    return { tickets, notifications: await count(tx, 'notification') };
  },
});

const createRecord = operation({
  input: z.looseObject({ name: z.string() }),
  tables: (words) => `CREATE TABLE IF NOT EXISTS record (id ${words.serial},
      name TEXT NOT NULL, ${marks(words)}) ${words.strict};`,
  async apply(tx, { name }, context) {
    const id = await inserted(
      tx,
      `INSERT INTO record (name, principal, key, token_epoch, token_number)
       VALUES (?, ?, ?, ?, ?) RETURNING id`,
      name,
      ...marksOf(context),
    );
    return { externalId: `record-${id}`, objectVersion: '1', result: { name } };
  },
  async observe(tx) {
    const rows = await tx.all('SELECT name FROM record ORDER BY id');
    return { records: rows.map((row) => String(row['name'])) };
  },
});

/** Counters and accounts are the same table twice: a name, an integer, a version. */
function balanceTable(table: string, initial: number) {
  return {
    tables: (words: TableWords) => {
      const { serial, integer, strict } = words;
      return `CREATE TABLE IF NOT EXISTS ${table} (principal TEXT NOT NULL, name TEXT NOT NULL,
        value ${integer} NOT NULL, version ${integer} NOT NULL,
        PRIMARY KEY (principal, name)) ${strict};
      CREATE TABLE IF NOT EXISTS ${table}_change (id ${serial},
        name TEXT NOT NULL, delta ${integer} NOT NULL, ${marks(words)}) ${strict};`;
    },
    async change(tx: EffectTx, name: string, delta: number, context: EffectContext) {
      const row = await tx.get(
        `INSERT INTO ${table} (principal, name, value, version) VALUES (?, ?, ?, 1)
         ON CONFLICT (principal, name)
         DO UPDATE SET value = ${table}.value + ?, version = ${table}.version + 1
         RETURNING value, version`,
        context.principal,
        name,
        initial + delta,
        delta,
      );
      await tx.run(
        `INSERT INTO ${table}_change (name, delta, principal, key, token_epoch, token_number)
         VALUES (?, ?, ?, ?, ?, ?)`,
        name,
        delta,
        ...marksOf(context),
      );
      return { value: Number(row?.['value']), version: String(row?.['version']) };
    },
    async values(tx: EffectTx): Promise<Json> {
      const rows = await tx.all(
        `SELECT principal, name, value FROM ${table} ORDER BY principal, name`,
      );
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
    async apply(tx, { counter, delta }, context) {
      const { value, version } = await counters.change(tx, counter, delta, context);
      return { externalId: `${counter}@${version}`, objectVersion: version, result: { value } };
    },
    observe: async (tx) => ({ counters: await counters.values(tx) }),
  });
}

function creditTo(initial: number): LocalOperation {
  const accounts = balanceTable('account', initial);
  return operation({
    input: z.object({ account: z.string().min(1), amount: z.int() }),
    tables: accounts.tables,
    async apply(tx, { account, amount }, context) {
      const { value, version } = await accounts.change(tx, account, amount, context);
      if (value < 0) {
        const message = `account ${account} would be at ${value}`;
        return { rejected: { code: 'insufficient_funds', message } };
      }
      const result = { balance: value };
      return { externalId: `${account}@${version}`, objectVersion: version, result };
    },
    observe: async (tx) => ({ accounts: await accounts.values(tx) }),
  });
}

/** Has no result: its answer is 204. */
const sendNotice = operation({
  input: z.looseObject({ to: z.string().min(1) }),
  tables: (words) => `CREATE TABLE IF NOT EXISTS notice (id ${words.serial},
      recipient TEXT NOT NULL, input TEXT NOT NULL, ${marks(words)}) ${words.strict};`,
  async apply(tx, input, context) {
    const id = await inserted(
      tx,
      `INSERT INTO notice (recipient, input, principal, key, token_epoch, token_number)
       VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
      input.to,
      JSON.stringify(input),
      ...marksOf(context),
    );
    return { externalId: `notice-${id}` };
  },
  observe: async (tx) => ({ notices: await count(tx, 'notice') }),
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
