import { expect, test } from 'vitest';
import { type Message, nextReply } from '../../examples/support-desk/model-script.ts';
import { refundTask } from '../../examples/support-desk/refunds.ts';

const mails = [
  { id: 'm1', from: 'gus@example.com', subject: 'Licence', body: 'One more' },
  { id: 'm2', from: 'gus@example.com', subject: 'Licence', body: 'One more' },
];

/** A turn of the conversation as the wire carries it. */
function turn(tool: string, ...told: readonly string[]): Message[] {
  const ids = told.map((_, index) => `call_${tool}_${index}`);
  const tool_calls = ids.map((id) => ({ id, function: { name: tool, arguments: '{}' } }));
  const results = told.map((content, index) => ({
    role: 'tool' as const,
    content,
    tool_call_id: ids[index],
  }));
  return [{ role: 'assistant', content: null, tool_calls }, ...results];
}

const goal: Message[] = [
  { role: 'system', content: 'rules' },
  { role: 'user', content: 'work through the mails' },
];
const read = [...goal, ...turn('read_mails', JSON.stringify({ mails }))];
const opened = [...read, ...turn('open_ticket', '{"ticket":"ticket-1"}', '{"ticket":"ticket-2"}')];
const noticed = [...opened, ...turn('send_notice', '{"queued":true}')];

test('it reads first, then opens one ticket per mail in one turn', () => {
  expect(nextReply(goal)).toEqual({ kind: 'calls', calls: [{ tool: 'read_mails', input: {} }] });
  const { from, subject, body } = mails[0] as (typeof mails)[number];
  const call = { tool: 'open_ticket', input: { from, subject, body } };
  expect(nextReply(read)).toEqual({ kind: 'calls', calls: [call, call] });
});

test('it sends one notice, writes the summary from the ticket ids, and ends', () => {
  expect(nextReply(opened)).toMatchObject({ calls: [{ tool: 'send_notice' }] });
  const summary = nextReply(noticed);
  expect(summary).toMatchObject({ calls: [{ tool: 'write_summary' }] });
  expect(JSON.stringify(summary)).toContain('ticket-2\\tgus@example.com');
  const last = nextReply([...noticed, ...turn('write_summary', '{"bytes":9}')]);
  expect(last).toEqual({
    kind: 'text',
    text: '2 mails, 2 tickets opened; the summary is written.',
  });
});

test('a call whose outcome is unknown is not made again; the summary says so', () => {
  const unknown = 'Outcome unknown: it may have happened. Do not repeat it.';
  const doubted = [...read, ...turn('open_ticket', '{"ticket":"ticket-1"}', unknown)];
  expect(nextReply(doubted)).toMatchObject({ calls: [{ tool: 'send_notice' }] });
  const told = nextReply([...doubted, ...turn('send_notice', unknown)]);
  expect(told).toMatchObject({ calls: [{ tool: 'write_summary' }] });
  expect(JSON.stringify(told)).toContain('not known\\tgus@example.com');
});

test('without the mails it says so and proposes nothing', () => {
  const reply = nextReply([
    ...goal,
    ...turn('read_mails', 'Not executed (invalid_input): no file'),
  ]);
  expect(reply.kind).toBe('text');
});

test('a note about a missing reply changes nothing', () => {
  const note: Message = { role: 'user', content: '1 earlier request(s) of this turn went out' };
  expect(nextReply([...read, note])).toEqual(nextReply(read));
});

const refunds: Message[] = [goal[0] as Message, { role: 'user', content: refundTask.goal }];
const asking = [
  { id: 'm1', from: 'olga@example.com', subject: '', body: 'Please refund 240.00 EUR.' },
  { id: 'm2', from: 'gus@example.com', subject: '', body: 'One more' },
  { id: 'm3', from: 'rosa@example.com', subject: '', body: 'Please refund 0.20 EUR.' },
];
const asked = [...refunds, ...turn('read_mails', JSON.stringify({ mails: asking }))];

test('asked about refunds it credits what the mails name, in cents, and no ticket', () => {
  const call = (account: string, amount: number) => ({
    tool: 'credit_customer',
    input: { account, amount },
  });
  const calls = [call('olga@example.com', 24_000), call('rosa@example.com', 20)];
  expect(nextReply(asked)).toEqual({ kind: 'calls', calls });
});

test('a refund that was denied is not asked for again, and the notice says how many', () => {
  const told = [...asked, ...turn('credit_customer', 'Not executed (denied)', '{"balance":120}')];
  expect(nextReply(told)).toMatchObject({
    calls: [{ tool: 'send_notice', input: { body: '2 refunds asked for, 1 paid' } }],
  });
  const last = nextReply([...told, ...turn('send_notice', '{"queued":true}')]);
  expect(last).toEqual({
    kind: 'text',
    text: '2 refunds asked for, 1 paid; the notice is sent.',
  });
});
