import { expect, onTestFinished, test } from 'vitest';
import {
  type HttpCall,
  listenerOf,
  openDumbReceiver,
  openForgetting,
  receiverHandler,
  serve,
  withFaults,
} from '../../receiver/index.ts';
import { json } from '../../receiver/problem.ts';
import { type Call, close, inquire, send } from '../support/receiver-call.ts';
import { openForTest, tempFolder } from './open.ts';

// Catches: a fault that does something else than its name, in the tests of everyone else.

async function serveFaulty() {
  const opened = await openForTest();
  const forgetting = await openForgetting({ path: opened.path });
  const { forget } = forgetting;
  const wrapper = withFaults({ handler: receiverHandler(opened.receiver), forget });
  const served = await serve(wrapper.listener, 0);
  onTestFinished(async () => {
    wrapper.abandon();
    await served.stop();
    forgetting.stop();
  });
  const post = async (path: string, body: unknown) => {
    const init = { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${served.url}${path}`, init);
    return { status: response.status, body: await response.json() };
  };
  return { ...opened, url: served.url, arm: (fault: unknown) => post('/faults', fault), post };
}

const POLL = { timeout: 10_000, interval: 5 };

const ticket: Call = { operation: 'open_ticket', key: 'a17', input: { subject: 'Printer' } };

test.each([1, 2, 3])('A9 the receipt lost %i times: one ticket, and a replay', async (times) => {
  const { url, receiver, arm } = await serveFaulty();
  await arm({ fault: 'commit_then_drop_reply', operation: 'open_ticket', times });
  for (let lost = 0; lost < times; lost++) await expect(send(url, ticket)).rejects.toThrow();
  const reply = await send(url, ticket);
  expect(reply.headers.get('idempotency-status')).toBe('replayed');
  expect(await receiver.observe('open_ticket')).toEqual({ tickets: 1, notifications: 1 });
});

test('op7 adds 1 to 10, its reply is lost, its inquiry tells 11', async () => {
  const { url, arm } = await serveFaulty();
  await send(url, { operation: 'add', key: 'op0', input: { counter: 'c', delta: 10 } });
  const op7: Call = { operation: 'add', key: 'op7', input: { counter: 'c', delta: 1 } };
  await arm({ fault: 'commit_then_drop_reply', keyIncludes: 'op7' });
  await expect(send(url, op7)).rejects.toThrow();
  expect((await inquire(url, op7)).body).toMatchObject({ result: { value: 11 } });
  expect((await send(url, op7)).body).toMatchObject({ result: { value: 11 } });
});

test('R-017 negative control: op8 instead of op7 after the lost reply gives 12', async () => {
  const { url, arm } = await serveFaulty();
  await send(url, { operation: 'add', key: 'op0', input: { counter: 'c', delta: 10 } });
  await arm({ fault: 'commit_then_drop_reply' });
  const op7: Call = { operation: 'add', key: 'op7', input: { counter: 'c', delta: 1 } };
  await expect(send(url, op7)).rejects.toThrow();
  expect((await send(url, { ...op7, key: 'op8' })).body).toMatchObject({ result: { value: 12 } });
});

test('dropped before the commit: the receiver never saw the request', async () => {
  const { url, receiver, arm } = await serveFaulty();
  await arm({ fault: 'drop_before_commit' });
  await expect(send(url, ticket)).rejects.toThrow();
  expect(await receiver.requests()).toEqual([]);
  expect(await send(url, ticket)).toMatchObject({ status: 200 });
});

test('A13 held, closed, released: refused with no effect, also the second late copy', async () => {
  const { url, receiver, arm, post } = await serveFaulty();
  await arm({ fault: 'hold', times: 2 });
  const first = { ...ticket, sendToken: { epoch: 1, number: 1 } };
  const late = [send(url, first), send(url, first)];
  await expect.poll(() => held(url), POLL).toBe(2);
  expect((await inquire(url, ticket)).body).toMatchObject({ operation_state: 'no_record' });
  const closed = await close(url, first);
  expect(closed.body).toMatchObject({ operation_state: 'not_executed' });
  const released = await post('/faults/release', {});
  expect(released.body).toEqual({ released: 2, statuses: [410, 410] });
  expect((await Promise.all(late)).map(({ status }) => status)).toEqual([410, 410]);
  expect(await receiver.effects()).toEqual([]);
});

test('negative control: held, only inquired, released: the request still runs', async () => {
  const { url, receiver, arm, post } = await serveFaulty();
  await arm({ fault: 'hold' });
  const late = send(url, ticket);
  await expect.poll(() => held(url), POLL).toBe(1);
  expect((await inquire(url, ticket)).body).toMatchObject({ operation_state: 'no_record' });
  await post('/faults/release', { keyIncludes: 'a17' });
  expect(await late).toMatchObject({ status: 200 });
  expect(await receiver.effects()).toHaveLength(1);
});

async function held(url: string): Promise<number> {
  const report = (await (await fetch(`${url}/faults`)).json()) as { held: unknown[] };
  return report.held.length;
}

test('delayed commit: the caller hears nothing, the effect comes later', async () => {
  const { url, receiver, arm } = await serveFaulty();
  await arm({ fault: 'delayed_commit', delayMs: 50 });
  await expect(send(url, ticket)).rejects.toThrow();
  await expect.poll(async () => (await receiver.effects()).length, POLL).toBe(1);
  const report = await (await fetch(`${url}/faults`)).json();
  expect(report).toMatchObject({ delayed: 0, passedOn: [{ key: 'a17', status: 200 }] });
});

test('delayed commit with the connection held answers in the end', async () => {
  const { url, arm } = await serveFaulty();
  await arm({ fault: 'delayed_commit', delayMs: 1, connection: 'hold' });
  expect(await send(url, ticket)).toMatchObject({ status: 200 });
});

test('lagging reads: no record is seen although the ticket is there', async () => {
  const { url, receiver, arm } = await serveFaulty();
  await send(url, ticket);
  await arm({ fault: 'lagging_reads', times: 2 });
  for (const state of ['no_record', 'no_record', 'executed'])
    expect((await inquire(url, ticket)).body).toMatchObject({ operation_state: state });
  expect(await receiver.effects()).toHaveLength(1);
});

test('wrong account: the inquiry looks at another principal and sees nothing', async () => {
  const { url, receiver, arm } = await serveFaulty();
  await send(url, ticket);
  await arm({ fault: 'wrong_account' });
  expect((await inquire(url, ticket)).body).toMatchObject({ operation_state: 'no_record' });
  expect((await receiver.requests()).at(-1)).toMatchObject({
    principal: 'u1-other',
    kind: 'inquire',
  });
  expect((await inquire(url, ticket)).body).toMatchObject({ operation_state: 'executed' });
});

test('unavailable: inquiries are answered 503 and reach nobody', async () => {
  const { url, receiver, arm } = await serveFaulty();
  await send(url, ticket);
  await arm({ fault: 'unavailable', times: 5 });
  for (let i = 0; i < 5; i++) expect((await inquire(url, ticket)).status).toBe(503);
  expect(await receiver.requests()).toHaveLength(1);
  expect((await inquire(url, ticket)).status).toBe(200);
});

test('rate limited: answered 429 with Retry-After, the key noted, nobody reached', async () => {
  const { url, receiver, arm } = await serveFaulty();
  await arm({ fault: 'rate_limited', on: 'execute' });
  const answer = await fetch(`${url}/operations/open_ticket`, {
    method: 'POST',
    headers: { 'Idempotency-Key': '"a17"' },
  });
  expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '1']);
  expect(await receiver.requests()).toEqual([]);
  const report = await (await fetch(`${url}/faults`)).json();
  expect(report).toMatchObject({ armed: [{ hits: 1, keys: ['a17'], spent: true }] });
});

test('a handler of another protocol says itself which calls can be hit', async () => {
  const aimOf = ({ path }: HttpCall) =>
    path[0] === 'pay' ? { kind: 'execute' as const, operation: 'pay', key: path[1] ?? '' } : null;
  const handler = async () => json(200, {});
  const wrapper = withFaults({ handler, aimOf });
  const { url, stop } = await serve(wrapper.listener, 0);
  onTestFinished(() => stop());
  const fault = JSON.stringify({ fault: 'commit_then_drop_reply', keyIncludes: 'k7' });
  await fetch(`${url}/faults`, { method: 'POST', body: fault });
  expect((await fetch(`${url}/ask/k7`)).status).toBe(200);
  await expect(fetch(`${url}/pay/k7`)).rejects.toThrow();
});

test('a forgotten key is executed a second time, so nobody may resend it', async () => {
  const { url, receiver, arm } = await serveFaulty();
  await send(url, ticket);
  await arm({ fault: 'forget_key', keyIncludes: 'a17' });
  expect((await send(url, ticket)).headers.get('idempotency-status')).toBe('executed');
  expect((await receiver.effects()).map(({ key }) => key)).toEqual(['a17', 'a17']);
});

test('a fault spares other operations, keys and bodies, and counts its hits', async () => {
  const { url, arm } = await serveFaulty();
  await arm({ fault: 'drop_before_commit', operation: 'add' });
  await arm({ fault: 'drop_before_commit', keyIncludes: 'z9' });
  await arm({ fault: 'drop_before_commit', bodyIncludes: 'Printer on fire' });
  expect(await send(url, ticket)).toMatchObject({ status: 200 });
  const burning = { ...ticket, key: 'b', input: { subject: 'Printer on fire' } };
  await expect(send(url, burning)).rejects.toThrow();
  const report = await (await fetch(`${url}/faults`)).json();
  expect(report).toMatchObject({ armed: [{ hits: 0 }, { hits: 0 }, { hits: 1, spent: true }] });
});

test.each([
  ['unknown fault', { fault: 'gremlin' }],
  ['misspelt member', { fault: 'hold', keyIncluded: 'a' }],
  ['missing delay', { fault: 'delayed_commit' }],
])('arming with a(n) %s is refused', async (_what, fault) => {
  const { arm } = await serveFaulty();
  expect(await arm(fault)).toMatchObject({ status: 400 });
});

test('the dumb receiver repeats the effect of a mail whose reply was lost', async () => {
  const dumb = openDumbReceiver({ path: `${tempFolder()}/mail.jsonl` });
  const wrapper = withFaults({ handler: dumb.handler });
  const { url, stop } = await serve(wrapper.listener, 0);
  onTestFinished(() => stop());
  const body = JSON.stringify({ to: 'a@example.com', subject: 'Hi', body: 'there' });
  const mail = () => fetch(`${url}/send`, { method: 'POST', body });
  const fault = JSON.stringify({ fault: 'commit_then_drop_reply', bodyIncludes: 'a@example.com' });
  await fetch(`${url}/faults`, { method: 'POST', body: fault });
  await expect(mail()).rejects.toThrow();
  expect((await mail()).status).toBe(200);
  expect(dumb.log()).toHaveLength(2);
});

test('without the wrapper there is no control endpoint', async () => {
  const { receiver } = await openForTest();
  const { url, stop } = await serve(listenerOf(receiverHandler(receiver)), 0);
  onTestFinished(() => stop());
  const body = JSON.stringify({ fault: 'hold' });
  expect((await fetch(`${url}/faults`, { method: 'POST', body })).status).toBe(404);
});
