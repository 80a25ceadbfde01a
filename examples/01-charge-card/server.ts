// Temporal's development server with its Web UI, for trying this out. Its state is in a file here.

import { startEmbeddedServer } from 'holdfast/worker';

const server = await startEmbeddedServer({ port: 7233, ui: true, dbPath: 'temporal.db' });
console.log(`READY ${server.address}, Web UI ${server.uiUrl}`);
// A server keeps no process alive, and ends with the one that started it.
const alive = setInterval(() => undefined, 60_000);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    clearInterval(alive);
    await server.stop();
  });
