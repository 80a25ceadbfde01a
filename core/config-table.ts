// The one table of settings: variable, check, default and meaning of each. `docs/configuration.md`
// is this table printed. Pure: the environment is an argument.

import * as z from 'zod';
import { scopeNameSchema } from './ids.ts';
import { limits } from './limits.ts';
import { type PriceTable, priceTableSchema } from './prices.ts';

type TextSchema = z.ZodType<unknown, string>;

export interface ConfigRow {
  readonly env: string;
  readonly schema: TextSchema;
  /** As it would stand in the environment; null: no default. */
  readonly fallback: string | null;
  readonly need: 'optional' | 'worker';
  readonly doc: string;
}

const text = z.string().refine((value) => value === value.trim(), 'has blanks at an end');
const path = text;
const onOff = z.enum(['on', 'off']).transform((value) => value === 'on');
const address = text.regex(/^[^\s/:@]+:\d{1,5}$|^\[[0-9a-fA-F:]+\]:\d{1,5}$/, 'is not host:port');
const httpUrl = text.refine((value) => {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  return /^https?:$/.test(url.protocol) && url.username + url.password === '';
}, 'is not an http or https URL without user and password');
const queuePrefix = text.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/, 'is not letters, digits, ._-');
const variableName = text.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not the name of a variable');

export interface LedgerLocation {
  readonly kind: 'sqlite';
  readonly path: string;
}

const ledgerUrl = text.transform((url, context): LedgerLocation => {
  const sqlite = /^sqlite:(\/(?!\/).*)$/.exec(url)?.[1];
  if (sqlite !== undefined) return { kind: 'sqlite', path: sqlite };
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1];
  const message =
    scheme === undefined || scheme.toLowerCase() === 'sqlite'
      ? 'is not sqlite:/absolute/path; a relative path would be another ledger in each directory'
      : `has the scheme "${scheme}:"; only sqlite:/absolute/path is known`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** Its words name fields, never values. */
const priceTable = text.transform((json, context): PriceTable => {
  const parsed = priceTableSchema.safeParse(jsonIn(json));
  if (parsed.success) return parsed.data;
  const words = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `at ${z.core.toDotPath(path)}: ${message}`,
  );
  context.addIssue({ code: 'custom', message: `is no table of prices: ${words.join('; ')}` });
  return z.NEVER;
});

/** Undefined where it is none. */
function jsonIn(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const tokenCount = text
  .regex(/^[1-9]\d{0,8}$/, 'is not a whole number of tokens, at least 1')
  .transform(Number);

/** Whole milliseconds. Above 2^31-1 a timer of Node would fire at once. */
function milliseconds(least: number) {
  return text
    .regex(/^\d{1,10}$/, 'is not a whole number of milliseconds')
    .transform(Number)
    .refine((value) => value >= least, `is below ${least} ms`)
    .refine((value) => value < 2 ** 31, 'is above 2147483647 ms');
}

function row<S extends TextSchema>(env: string, schema: S, fallback: string, doc: string) {
  return { env, schema, fallback, need: 'optional', doc } as const;
}

function noDefault<S extends TextSchema, const N extends ConfigRow['need']>(
  env: string,
  schema: S,
  need: N,
  doc: string,
) {
  return { env, schema, fallback: null, need, doc } as const;
}

export const configTable = {
  address: row(
    'HOLDFAST_ADDRESS',
    address,
    '127.0.0.1:7233',
    'Host and port of the Temporal frontend.',
  ),
  namespace: row(
    'HOLDFAST_NAMESPACE',
    scopeNameSchema,
    'default',
    'Temporal namespace; it is part of every receiver key, so it never changes for a ledger.',
  ),
  tls: row('HOLDFAST_TLS', onOff, 'off', 'Connect to Temporal by TLS.'),
  tlsCaPath: noDefault(
    'HOLDFAST_TLS_CA',
    path,
    'optional',
    'PEM file with the authority that signed the server; without it the system decides.',
  ),
  tlsCertPath: noDefault(
    'HOLDFAST_TLS_CERT',
    path,
    'optional',
    'PEM file with the client certificate; goes with `HOLDFAST_TLS_KEY`.',
  ),
  tlsKeyPath: noDefault(
    'HOLDFAST_TLS_KEY',
    path,
    'optional',
    'PEM file with the key of the client certificate.',
  ),
  tlsServerName: noDefault(
    'HOLDFAST_TLS_SERVER_NAME',
    text,
    'optional',
    'Name to expect in the server certificate where it differs from the address.',
  ),
  apiKey: noDefault(
    'HOLDFAST_API_KEY',
    text,
    'optional',
    'API key for Temporal; only with TLS, because it would travel in clear text.',
  ),
  installation: noDefault(
    'HOLDFAST_INSTALLATION',
    scopeNameSchema,
    'worker',
    'Name of this installation; part of every receiver key: choose it once, never change it.',
  ),
  ledger: noDefault(
    'HOLDFAST_LEDGER_URL',
    ledgerUrl,
    'worker',
    'Where the ledger is: `sqlite:/absolute/path`. Workers need it; clients may do without.',
  ),
  createLedger: row(
    'HOLDFAST_LEDGER_CREATE',
    onOff,
    'off',
    'Make the ledger where there is none: for the first start. A lost ledger is no new one: ' +
      'with `on` it would be replaced by an empty one, and what it knew would be done again.',
  ),
  tools: noDefault(
    'HOLDFAST_TOOLS',
    path,
    'optional',
    'Module whose export `tools` holds the tools by name; without it the worker has none.',
  ),
  taskQueuePrefix: row(
    'HOLDFAST_TASK_QUEUE_PREFIX',
    queuePrefix,
    'holdfast',
    'The task queues are `<prefix>-runs`, `<prefix>-actions` and `<prefix>-inquiries`.',
  ),
  startToCloseMs: row(
    'HOLDFAST_START_TO_CLOSE_MS',
    milliseconds(1_000),
    String(limits.startToCloseMs),
    'Longest run of one attempt of an action, where its tool names no other.',
  ),
  heartbeatTimeoutMs: row(
    'HOLDFAST_HEARTBEAT_TIMEOUT_MS',
    milliseconds(1_000),
    String(limits.heartbeatTimeoutMs),
    'Silence after which a worker counts as dead; the attempt is then unknown.',
  ),
  scheduleToStartMs: row(
    'HOLDFAST_SCHEDULE_TO_START_MS',
    milliseconds(1_000),
    String(limits.scheduleToStartMs),
    'How long an attempt waits for a worker before it is closed and counted.',
  ),
  barrierWaitMs: row(
    'HOLDFAST_BARRIER_WAIT_MS',
    milliseconds(100),
    String(limits.barrierWaitMs),
    'How long an attempt waits for proof that it is still wanted.',
  ),
  sendWindowMs: row(
    'HOLDFAST_SEND_WINDOW_MS',
    milliseconds(100),
    String(limits.sendWindowMs),
    'Longest time from that proof to the first byte sent.',
  ),
  shutdownGraceMs: row(
    'HOLDFAST_SHUTDOWN_GRACE_MS',
    milliseconds(0),
    String(limits.shutdownGraceMs),
    'How long running attempts may finish after SIGTERM.',
  ),
  modelProvider: row(
    'HOLDFAST_MODEL_PROVIDER',
    z.enum(['none', 'openai-compatible']),
    'none',
    'Which kind of model service plans the turns; `none` for runs with a fixed plan.',
  ),
  modelBaseUrl: noDefault(
    'HOLDFAST_MODEL_BASE_URL',
    httpUrl,
    'optional',
    'Base URL of the model service, e.g. `http://127.0.0.1:11434/v1`.',
  ),
  modelName: noDefault(
    'HOLDFAST_MODEL_NAME',
    text,
    'optional',
    'Name of the model at that service.',
  ),
  modelApiKeyEnv: noDefault(
    'HOLDFAST_MODEL_API_KEY_ENV',
    variableName,
    'optional',
    'Name of the variable that holds the API key of the model service; the key is never kept here.',
  ),
  modelMaxOutputTokens: row(
    'HOLDFAST_MODEL_MAX_OUTPUT_TOKENS',
    tokenCount,
    String(limits.modelOutputTokensMax),
    'Longest answer that one model call may give; a budget reserves so much for it.',
  ),
  prices: noDefault(
    'HOLDFAST_PRICES',
    priceTable,
    'optional',
    'Dated prices of models as JSON, by exact name, in millionths of the currency for a million ' +
      'tokens: `{"date":"2026-11-01","currency":"USD","models":{"small":' +
      '{"inputMicrosPerMillion":3000000,"outputMicrosPerMillion":15000000}}}` is USD 3 and 15. ' +
      'Under a budget of money, a model that is not in it is not called.',
  ),
  registerSearchAttributes: row(
    'HOLDFAST_REGISTER_SEARCH_ATTRIBUTES',
    onOff,
    'on',
    'Let the worker create missing search attributes; `off` where its account may not.',
  ),
  logLevel: row(
    'HOLDFAST_LOG_LEVEL',
    z.enum(['debug', 'info', 'warn', 'error']),
    'info',
    'Least level of log lines written to stderr.',
  ),
  cacheDir: noDefault(
    'HOLDFAST_CACHE',
    path,
    'optional',
    'Directory for server binaries and workflow bundles; without it the cache of the user.',
  ),
} as const satisfies Record<string, ConfigRow>;
