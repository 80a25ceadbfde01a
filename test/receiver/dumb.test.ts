import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listenerOf, openDumbReceiver, serve } from '../../receiver/index.ts';
import { tempFolder } from './open.ts';

async function serveDumb(path: string) {
  const dumb = openDumbReceiver({ path, clock: () => 5 });
  const { url, stop } = await serve(listenerOf(dumb.handler), 0);
  onTestFinished(async () => {
    await stop();
    dumb.shutdown();
  });
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/send`, { method: 'POST', body, headers });
  return { dumb, url, post };
}

const mail = { to: 'a@example.com', subject: 'line\r\nbreak \u2028', body: '"quoted"\n' };

test('each mail is one more line, whatever key it carries, and nothing is promised', async () => {
  const path = join(tempFolder(), 'mail.jsonl');
  const { dumb, url, post } = await serveDumb(path);
  for (let i = 0; i < 2; i++) {
    const response = await post(JSON.stringify(mail), { 'Idempotency-Key': '"k"' });
    expect(response.status).toBe(200);
    expect(response.headers.get('idempotency-status')).toBeNull();
  }
  const log = [1, 2].map((seq) => ({ seq, at: 5, mail }));
  expect(dumb.log()).toEqual(log);
  expect(await (await fetch(`${url}/log`)).json()).toEqual({ log });
  const lines = readFileSync(path, 'utf8').split('\n');
  expect(lines.slice(0, -1).map((line) => JSON.parse(line))).toEqual(log);
});

test('it can be neither asked nor closed', async () => {
  const { url, post } = await serveDumb(join(tempFolder(), 'mail.jsonl'));
  await post(JSON.stringify(mail));
  const path = `${url}/operations/send/keys/k`;
  expect((await fetch(path)).status).toBe(404);
  expect((await fetch(`${path}/close`, { method: 'POST', body: '{}' })).status).toBe(404);
});

test('a line without its LF never happened: it is cut off when the log is opened', async () => {
  const path = join(tempFolder(), 'mail.jsonl');
  const first = await serveDumb(path);
  await first.post(JSON.stringify(mail));
  appendFileSync(path, '{"seq":2,"at":5,"mail":{"to":"b@ex');
  const second = await serveDumb(path);
  expect(second.dumb.log()).toHaveLength(1);
  await second.post(JSON.stringify(mail));
  expect(
    openDumbReceiver({ path })
      .log()
      .map(({ seq }) => seq),
  ).toEqual([1, 2]);
});

test('a mail without recipient is refused and not logged', async () => {
  const { dumb, post } = await serveDumb(join(tempFolder(), 'mail.jsonl'));
  expect((await post(JSON.stringify({ subject: 'x', body: 'y' }))).status).toBe(400);
  expect(dumb.log()).toEqual([]);
});
