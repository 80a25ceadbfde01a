// From environment variables to one checked configuration. Every bad row is named at once, so that
// a deployment is mended in one go. Pure: the environment is an argument, files are read elsewhere.

import type * as z from 'zod';
import { type ConfigRow, configTable, type LedgerLocation } from './config-table.ts';
import type { PriceTable } from './prices.ts';

export type { LedgerLocation } from './config-table.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Key = keyof typeof configTable;
type ValueOf<R extends ConfigRow> = R['fallback'] extends string
  ? z.output<R['schema']>
  : z.output<R['schema']> | null;
type Settings = { readonly [K in Key]: ValueOf<(typeof configTable)[K]> };
/** While it is being checked: a row that is bad alone is null. */
type Draft = { readonly [K in Key]: Settings[K] | null };

/** Paths of PEM files; whoever connects reads them. */
export interface TlsConfig {
  readonly caPath: string | null;
  readonly certPath: string | null;
  readonly keyPath: string | null;
  readonly serverName: string | null;
}

export interface QueueNames {
  readonly runs: string;
  readonly actions: string;
  readonly inquiries: string;
}

export interface TimeoutConfig {
  readonly startToCloseMs: number;
  readonly heartbeatTimeoutMs: number;
  readonly scheduleToStartMs: number;
  readonly barrierWaitMs: number;
  readonly sendWindowMs: number;
  readonly shutdownGraceMs: number;
}

export type ModelConfig =
  | { readonly provider: 'none' }
  | {
      readonly provider: 'openai-compatible';
      readonly baseURL: string;
      readonly name: string;
      /** Variable with the key, known to be set; null: the service wants none. */
      readonly apiKeyEnv: string | null;
    };

export type LogLevel = Settings['logLevel'];

/** What a client needs; without a ledger its commands go as signals alone. */
export interface ClientConfig {
  readonly address: string;
  readonly namespace: string;
  readonly tls: TlsConfig | null;
  readonly apiKey: string | null;
  readonly installation: string | null;
  readonly ledger: LedgerLocation | null;
  readonly queues: QueueNames;
  readonly timeouts: TimeoutConfig;
  readonly model: ModelConfig;
  readonly modelMaxOutputTokens: number;
  /** Null: no model has a price. */
  readonly prices: PriceTable | null;
  readonly registerSearchAttributes: boolean;
  readonly logLevel: LogLevel;
  readonly cacheDir: string | null;
}

/** What a worker needs. */
export interface Config extends ClientConfig {
  readonly installation: string;
  readonly ledger: LedgerLocation;
  /** Make the ledger where there is none. */
  readonly createLedger: boolean;
  /** Module with the tools, as written; null: none. */
  readonly toolsPath: string | null;
}

export interface ConfigProblem {
  /** Variable. */
  readonly name: string;
  readonly problem: string;
  readonly todo: string;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];
  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map((p) => `  ${p.name} ${p.problem}: ${p.todo}`);
    super(`the configuration has ${problems.length} problem(s)\n${lines.join('\n')}`);
    this.problems = problems;
  }
}

/**
 * A worker's configuration. Throws ConfigError with every bad row. Values are never quoted in it.
 */
export function configFrom(env: Environment): Config {
  const { draft, problems } = draftFrom(env);
  for (const row of Object.values(configTable)) {
    if (row.need === 'worker' && env[row.env] === undefined)
      problems.push({ name: row.env, problem: 'is not set', todo: `set it. ${row.doc}` });
  }
  const { installation, ledger } = draft;
  if (problems.length > 0 || installation === null || ledger === null)
    throw new ConfigError(problems);
  const { createLedger, tools: toolsPath } = draft as Settings;
  return { ...assemble(draft as Settings), installation, ledger, createLedger, toolsPath };
}

/** A client's configuration: as for a worker, but installation and ledger may be missing. */
export function clientConfigFrom(env: Environment): ClientConfig {
  const { draft, problems } = draftFrom(env);
  if (problems.length > 0) throw new ConfigError(problems);
  return assemble(draft as Settings);
}

export function queuesOf(prefix: string): QueueNames {
  return { runs: `${prefix}-runs`, actions: `${prefix}-actions`, inquiries: `${prefix}-inquiries` };
}

function draftFrom(env: Environment): { draft: Draft; problems: ConfigProblem[] } {
  const problems = unknownVariables(env);
  const values: Record<string, unknown> = {};
  for (const [key, row] of Object.entries<ConfigRow>(configTable)) {
    const raw = env[row.env] ?? row.fallback;
    values[key] = raw === null ? null : checked(row, raw, problems);
  }
  const draft = values as Draft;
  problems.push(...contradictions(env, draft));
  return { draft, problems };
}

/** A misspelt variable would otherwise mean its default, silently. */
function unknownVariables(env: Environment): ConfigProblem[] {
  const known = new Set<string>(Object.values(configTable).map((row) => row.env));
  return Object.keys(env)
    .filter((name) => name.startsWith('HOLDFAST_') && env[name] !== undefined && !known.has(name))
    .map((name) => ({
      name,
      problem: 'is not a known setting',
      todo: 'unset it or correct its name; docs/configuration.md lists all',
    }));
}

function checked(row: ConfigRow, raw: string, problems: ConfigProblem[]): unknown {
  if (raw === '') {
    problems.push({ name: row.env, problem: 'is empty', todo: 'give a value or unset it' });
    return null;
  }
  const result = row.schema.safeParse(raw);
  if (result.success) return result.data;
  const problem = result.error.issues.map((issue) => issue.message).join(', ');
  problems.push({ name: row.env, problem, todo: `correct it. ${row.doc}` });
  return null;
}

/** Rows that are fine alone and wrong together. */
function contradictions(env: Environment, s: Draft): ConfigProblem[] {
  const name = (key: Key) => configTable[key].env;
  const rules: readonly (readonly [boolean, Key, string, string])[] = [
    [
      s.tls === false && tlsRowsSet(s),
      'tls',
      'is off while TLS files or names are set',
      'set it to on, or unset them',
    ],
    [
      s.tls === false && s.apiKey !== null,
      'apiKey',
      'would travel in clear text',
      `set ${name('tls')}=on or unset it`,
    ],
    [
      (s.tlsCertPath === null) !== (s.tlsKeyPath === null),
      'tlsCertPath',
      'and the key go together',
      `set both it and ${name('tlsKeyPath')}, or neither`,
    ],
    [
      (s.heartbeatTimeoutMs ?? 0) > (s.startToCloseMs ?? Number.POSITIVE_INFINITY),
      'heartbeatTimeoutMs',
      'is longer than the attempt itself',
      `make it shorter than ${name('startToCloseMs')}`,
    ],
    [
      s.modelProvider === 'openai-compatible' && (s.modelBaseUrl === null || s.modelName === null),
      'modelProvider',
      'needs a service and a model',
      `set ${name('modelBaseUrl')} and ${name('modelName')}`,
    ],
    [
      s.modelProvider === 'none' && modelRowsSet(s),
      'modelProvider',
      'is none while a model is described',
      'set it to openai-compatible, or unset the other model settings',
    ],
    [
      s.modelApiKeyEnv !== null && !env[s.modelApiKeyEnv],
      'modelApiKeyEnv',
      'names a variable that is not set',
      'set that variable, or unset this one if the service wants no key',
    ],
  ];
  return rules
    .filter(([broken]) => broken)
    .map(([, key, problem, todo]) => ({ name: name(key), problem, todo }));
}

function tlsRowsSet(s: Draft): boolean {
  return [s.tlsCaPath, s.tlsCertPath, s.tlsKeyPath, s.tlsServerName].some((v) => v !== null);
}

function modelRowsSet(s: Draft): boolean {
  return [s.modelBaseUrl, s.modelName, s.modelApiKeyEnv].some((v) => v !== null);
}

function assemble(s: Settings): ClientConfig {
  return {
    address: s.address,
    namespace: s.namespace,
    tls: s.tls
      ? {
          caPath: s.tlsCaPath,
          certPath: s.tlsCertPath,
          keyPath: s.tlsKeyPath,
          serverName: s.tlsServerName,
        }
      : null,
    apiKey: s.apiKey,
    installation: s.installation,
    ledger: s.ledger,
    queues: queuesOf(s.taskQueuePrefix),
    timeouts: {
      startToCloseMs: s.startToCloseMs,
      heartbeatTimeoutMs: s.heartbeatTimeoutMs,
      scheduleToStartMs: s.scheduleToStartMs,
      barrierWaitMs: s.barrierWaitMs,
      sendWindowMs: s.sendWindowMs,
      shutdownGraceMs: s.shutdownGraceMs,
    },
    model: modelOf(s),
    modelMaxOutputTokens: s.modelMaxOutputTokens,
    prices: s.prices,
    registerSearchAttributes: s.registerSearchAttributes,
    logLevel: s.logLevel,
    cacheDir: s.cacheDir,
  };
}

function modelOf(s: Settings): ModelConfig {
  if (s.modelProvider === 'none' || s.modelBaseUrl === null || s.modelName === null)
    return { provider: 'none' };
  return {
    provider: s.modelProvider,
    baseURL: s.modelBaseUrl,
    name: s.modelName,
    apiKeyEnv: s.modelApiKeyEnv,
  };
}
