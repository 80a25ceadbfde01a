// A wire between a worker and the server that can be cut: every connection through it breaks at
// once. Those that come afterwards are let through, unless it is down.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CutProxy {
  /** `host:port` for the worker. */
  readonly address: string;
  /** Connections so far. */
  accepted(): number;
  cut(): void;
  /** Cuts it, and refuses every connection until `up`. */
  down(): void;
  up(): void;
  stop(): Promise<void>;
}

/** `to`: `host:port`. */
export async function startCutProxy(to: string): Promise<CutProxy> {
  const [host = '', port = ''] = to.split(':');
  const open = new Set<Socket>();
  let count = 0;
  let isDown = false;
  const server = createServer((near) => {
    if (isDown) return void near.resetAndDestroy();
    count += 1;
    const far = connect(Number(port), host);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.pipe(other);
      // A cut is no error here, and one end takes the other with it.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted: () => count,
    cut,
    down() {
      isDown = true;
      cut();
    },
    up() {
      isDown = false;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
