// The receiver as a process:
//   node --import tsx receiver/main.ts --store /path/file --port 0 --kind reference
//   node --import tsx receiver/main.ts --postgres postgres://user@host/database --schema holdfast
// Prints READY {"port":n,"pid":n} when it listens; SIGTERM and SIGINT stop it, status 0.

import { parseArgs } from 'node:util';
import { openDumbReceiver } from './dumb.ts';
import { withFaults } from './faults.ts';
import { openForgetting } from './forgetting.ts';
import { receiverHandler } from './http.ts';
import { receiverLimits } from './limits.ts';
import { exampleOperations } from './operations.ts';
import type { StorePlace } from './place.ts';
import { openReceiver } from './receiver.ts';
import { type Handler, listenerOf, serve } from './transport.ts';

const OPTIONS = {
  store: { type: 'string' },
  postgres: { type: 'string' },
  schema: { type: 'string' },
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
  readonly forget?: (operation: string, key: string) => Promise<void>;
  close(): Promise<void>;
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

function placeOf(flags: Flags): StorePlace {
  const postgres = setting(flags, 'postgres');
  if (postgres !== undefined) return { postgres, ...present({ schema: setting(flags, 'schema') }) };
  const path = setting(flags, 'store');
  if (path !== undefined) return { path };
  throw new Error('--store is missing; name the file to keep records in, or --postgres with a URL');
}

async function open(flags: Flags): Promise<Opened> {
  const kind = setting(flags, 'kind') ?? 'reference';
  const place = placeOf(flags);
  if (kind === 'dumb') {
    if (!('path' in place)) throw new Error('--kind dumb keeps a file; give --store');
    const { path } = place;
    const dumb = openDumbReceiver({ path });
    return { handler: dumb.handler, close: async () => dumb.shutdown() };
  }
  if (kind !== 'reference') throw new Error(`--kind "${kind}" is neither reference nor dumb`);
  const operations = exampleOperations(
    present({
      counterInitial: whole(flags, 'counter-initial'),
      accountInitial: whole(flags, 'account-initial'),
    }),
  );
  const receiver = await openReceiver({
    ...place,
    operations,
    ...present({
      domain: setting(flags, 'domain'),
      retentionMs: whole(flags, 'retention-ms'),
      clockSkewMs: whole(flags, 'clock-skew-ms'),
    }),
  });
  const sweeping = setInterval(() => void receiver.sweep(), receiverLimits.sweepEveryMs);
  const forgetting = flags.faults ? await openForgetting(place) : null;
  return {
    handler: receiverHandler(receiver),
    ...(forgetting === null ? {} : { forget: forgetting.forget }),
    async close() {
      clearInterval(sweeping);
      await forgetting?.stop();
      await receiver.shutdown();
    },
  };
}

async function main(): Promise<void> {
  const { values: flags } = parseArgs({ options: OPTIONS });
  const opened = await open(flags);
  const { handler, forget } = opened;
  const faults = flags.faults ? withFaults({ handler, ...(forget ? { forget } : {}) }) : null;
  const served = await serve(faults?.listener ?? listenerOf(handler), whole(flags, 'port') ?? 0);
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    faults?.abandon();
    await served.stop();
    await opened.close();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
  process.stdout.write(`READY ${JSON.stringify({ port: served.port, pid: process.pid })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`receiver: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
