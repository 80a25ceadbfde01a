// JSON log lines on stderr, with ids and never a payload.
//
// INV-1 A field reaches the line only if its name is in `logFields` and its value is text of
//       bounded length, a number or a boolean. What is kept back is counted as `droppedFields`.
// INV-2 No text of a thrown error is a field: receivers quote payloads in theirs. `errorType` and
//       `errorAt` (file and line) tell where to look; the ledger has the rest.

import type { LogMetadata, LogLevel as SdkLevel, Logger as SdkLogger } from '@temporalio/common';
import type { LogLevel } from '../core/config.ts';
import { limits } from '../core/limits.ts';

export const logFields = [
  'run',
  'temporalRun',
  'action',
  'attempt',
  'number',
  'epoch',
  'tool',
  'workflow',
  'activity',
  'queue',
  'namespace',
  'address',
  'worker',
  'verdict',
  'state',
  'signal',
  'ms',
  'count',
  'pid',
  'component',
  'errorType',
  'errorCode',
  'errorAt',
] as const;

export type LogField = (typeof logFields)[number];
export type LogFields = { readonly [F in LogField]?: string | number | boolean };

export interface Log {
  /** `message` is a fixed text of ours; what varies goes into fields. */
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose every line carries these fields, too. */
  with(fields: LogFields): Log;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Gets one line with its newline. Must not throw. Default: stderr. */
  readonly write?: (line: string) => void;
  readonly now?: () => Date;
}

const severities = { debug: 0, info: 1, warn: 2, error: 3 } as const satisfies Record<
  LogLevel,
  number
>;
const allowed: ReadonlySet<string> = new Set(logFields);

export function createLog(options: LogOptions): Log {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const now = options.now ?? (() => new Date());
  const line = (level: LogLevel, message: string, fields: LogFields) => {
    if (severities[level] < severities[options.level]) return;
    const head = { level, time: now().toISOString(), message: bounded(message) };
    write(`${JSON.stringify({ ...head, ...passing(fields) })}\n`);
  };
  const logWith = (base: LogFields): Log => ({
    debug: (message, fields) => line('debug', message, { ...base, ...fields }),
    info: (message, fields) => line('info', message, { ...base, ...fields }),
    warn: (message, fields) => line('warn', message, { ...base, ...fields }),
    error: (message, fields) => line('error', message, { ...base, ...fields }),
    with: (fields) => logWith({ ...base, ...fields }),
  });
  return logWith({});
}

/** What of an error may stand in a log line. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { errorType: typeof error };
  const code = 'code' in error ? error.code : undefined;
  const at = /^\s+at .*?([^/\\()\s]+:\d+):\d+\)?$/m.exec(error.stack ?? '')?.[1];
  return {
    errorType: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { errorCode: code } : {}),
    ...(at === undefined ? {} : { errorAt: at }),
  };
}

/** For `Runtime.install({ logger })`: the SDK's lines in our form, and through our list. */
export function temporalLogger(log: Log): SdkLogger {
  const to = (level: LogLevel) => (message: string, meta?: LogMetadata) =>
    log[level](message, fieldsOfMetadata(meta ?? {}));
  const methods = {
    trace: to('debug'),
    debug: to('debug'),
    info: to('info'),
    warn: to('warn'),
    error: to('error'),
  };
  return {
    ...methods,
    log: (level: SdkLevel, message: string, meta?: LogMetadata) =>
      methods[sdkMethods[level]](message, meta),
  };
}

const sdkMethods = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
} as const satisfies Record<SdkLevel, string>;

/** The SDK's names for what is in our list. Its `attempt` is Temporal's counter, not ours. */
const metadataNames: Readonly<Record<string, LogField>> = {
  workflowId: 'run',
  runId: 'temporalRun',
  workflowType: 'workflow',
  activityId: 'attempt',
  activityType: 'activity',
  taskQueue: 'queue',
  namespace: 'namespace',
  sdkComponent: 'component',
};

function fieldsOfMetadata(meta: LogMetadata): LogFields {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(meta)) {
    const ours = metadataNames[name];
    if (ours !== undefined) fields[ours] = value;
  }
  return { ...(fields as LogFields), ...('error' in meta ? errorFields(meta['error']) : {}) };
}

function passing(fields: LogFields): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  let droppedFields = 0;
  for (const [name, value] of Object.entries<unknown>(fields)) {
    if (value === undefined) continue;
    if (!allowed.has(name)) droppedFields += 1;
    else if (typeof value === 'string') kept[name] = bounded(value);
    else if (typeof value === 'number' || typeof value === 'boolean') kept[name] = value;
    else droppedFields += 1;
  }
  return droppedFields === 0 ? kept : { ...kept, droppedFields };
}

function bounded(text: string): string {
  return text.length <= limits.logFieldCharsMax
    ? text
    : `${text.slice(0, limits.logFieldCharsMax)}…`;
}
