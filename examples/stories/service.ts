// A receiver as a process: `--store <file> --port <n>`, prints READY {"port":n} when it listens. In
// front of it stands the wrapper that loses, delays and holds what passes, once it is told to.

import { parseArgs } from 'node:util';
import type { Aim } from '../../receiver/fault.ts';
import { withFaults } from '../../receiver/faults.ts';
import { type Handler, type HttpCall, serve } from '../../receiver/transport.ts';

export interface Service {
  readonly handler: Handler;
  /** Which calls a fault can hit. */
  readonly aimOf: (call: HttpCall) => Aim | null;
  close(): void;
}

export async function runService(open: (store: string) => Service): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { store: text, port: text } });
  if (values.store === undefined) throw new Error('--store is missing; name the file to keep');
  const { handler, aimOf, close } = open(values.store);
  const faults = withFaults({ handler, aimOf });
  const served = await serve(faults.listener, Number(values.port ?? 0));
  process.once('SIGTERM', async () => {
    faults.abandon();
    await served.stop();
    close();
  });
  process.stdout.write(`READY ${JSON.stringify({ port: served.port })}\n`);
}
