// A receiver whose effect and record are two files, the second written some time after the first.
// Alive, it keeps its word; a kill between the two leaves an effect that nobody knows.
//   node torn-receiver.mjs <directory>
// Prints READY {"port":n}.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const RECORD_AFTER_MS = 50;
const directory = process.argv[2] ?? '';
const effects = join(directory, 'effects');
const records = join(directory, 'records');
const known = new Map<string, string>();
for (const line of existsSync(records) ? readFileSync(records, 'utf8').split('\n') : []) {
  const [key = '', payload = ''] = line.split('\t');
  known.set(key, payload);
}
const atWork = new Map<string, string>();

const server = createServer(async (incoming, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const key = String(incoming.headers['idempotency-key'] ?? '');
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const answer = await executed(`${body.principal} ${key}`, JSON.stringify(body.input));
  response.end(JSON.stringify(answer));
});

async function executed(key: string, payload: string) {
  if (key.endsWith(' ')) return { state: 'no_key' };
  const told = known.get(key) ?? atWork.get(key);
  if (told !== undefined && told !== payload) return { state: 'conflict' };
  if (atWork.has(key)) return { state: 'processing' };
  if (told === undefined) {
    atWork.set(key, payload);
    appendFileSync(effects, `${payload}\n`);
    await new Promise((resolve) => {
      setTimeout(resolve, RECORD_AFTER_MS);
    });
    appendFileSync(records, `${key}\t${payload}\n`);
    known.set(key, payload);
    atWork.delete(key);
  }
  return { state: 'executed', id: key, keyed: true };
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`READY ${JSON.stringify({ port })}\n`);
});
