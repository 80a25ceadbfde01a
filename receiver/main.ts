// The receiver as a process:
//   node --import tsx receiver/main.ts --store /path/file --port 0 --kind reference
// Prints READY {"port":n,"pid":n} when it listens; SIGTERM and SIGINT stop it, status 0.

import { parseArgs } from 'node:util';
import { openDumbReceiver } from './dumb.ts';
import { withFaults } from './faults.ts';
import { openForgetting } from './forgetting.ts';
import { receiverHandler } from './http.ts';
import { receiverLimits } from './limits.ts';
import { exampleOperations } from './operations.ts';
import { openReceiver } from './receiver.ts';
import { type Handler, listenerOf, serve } from './transport.ts';

const OPTIONS = {
  store: { type: 'string' },
  port: { type: 'string' },
  kind: { type: 'string' },
  domain: { type: 'string' },
  faults: { type: 'boolean' },
  'retention-ms': { type: 'string' },
  'clock-skew-ms': { type: 'string' },
  'counter-initial': { type: 'string' },
  'account-initial': { type: 'string' },
} as const;

type Flag = keyof typeof OPTIONS;

interface Opened {
  readonly handler: Handler;
  readonly forget?: (operation: string, key: string) => void;
  close(): void;
}

type Flags = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

/** A flag, else HOLDFAST_RECEIVER_<FLAG>, else undefined. */
function setting(flags: Flags, flag: Exclude<Flag, 'faults'>): string | undefined {
  const variable = `HOLDFAST_RECEIVER_${flag.toUpperCase().replaceAll('-', '_')}`;
  return flags[flag] ?? process.env[variable];
}

function whole(flags: Flags, flag: Exclude<Flag, 'faults'>): number | undefined {
  const value = setting(flags, flag);
  if (value === undefined) return undefined;
  if (!/^-?\d{1,15}$/.test(value)) throw new Error(`--${flag} "${value}" is not a whole number`);
  return Number(value);
}

function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [K in keyof T]: Exclude<T[K], undefined> };
}

function open(flags: Flags, path: string): Opened {
  const kind = setting(flags, 'kind') ?? 'reference';
  if (kind === 'dumb') {
    const dumb = openDumbReceiver({ path });
    return { handler: dumb.handler, close: () => dumb.shutdown() };
  }
  if (kind !== 'reference') throw new Error(`--kind "${kind}" is neither reference nor dumb`);
  const operations = exampleOperations(
    present({
      counterInitial: whole(flags, 'counter-initial'),
      accountInitial: whole(flags, 'account-initial'),
    }),
  );
  const receiver = openReceiver({
    path,
    operations,
    ...present({
      domain: setting(flags, 'domain'),
      retentionMs: whole(flags, 'retention-ms'),
      clockSkewMs: whole(flags, 'clock-skew-ms'),
    }),
  });
  const sweeping = setInterval(() => receiver.sweep(), receiverLimits.sweepEveryMs);
  const forgetting = flags.faults ? openForgetting(path, receiverLimits.busyTimeoutMs) : null;
  return {
    handler: receiverHandler(receiver),
    ...(forgetting === null ? {} : { forget: forgetting.forget }),
    close() {
      clearInterval(sweeping);
      forgetting?.stop();
      receiver.shutdown();
    },
  };
}

async function main(): Promise<void> {
  const { values: flags } = parseArgs({ options: OPTIONS });
  const path = setting(flags, 'store');
  if (path === undefined) throw new Error('--store is missing; name the file to keep records in');
  const opened = open(flags, path);
  const { handler, forget } = opened;
  const faults = flags.faults ? withFaults({ handler, ...(forget ? { forget } : {}) }) : null;
  const served = await serve(faults?.listener ?? listenerOf(handler), whole(flags, 'port') ?? 0);
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    faults?.abandon();
    await served.stop();
    opened.close();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
  process.stdout.write(`READY ${JSON.stringify({ port: served.port, pid: process.pid })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`receiver: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
