// A process that starts an embedded server, tells its address and pid, and does nothing more.

import { startEmbeddedServer } from '../../workers/embedded-server.ts';

const { address, pid } = await startEmbeddedServer();
process.stdout.write(`${JSON.stringify({ address, pid })}\n`);
setInterval(() => undefined, 60_000);
