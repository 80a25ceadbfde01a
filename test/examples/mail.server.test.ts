// The mail example with real processes. Would catch: a mail that is sent again while nobody knows,
// a question that does not let a person find the mail, and an answer that is taken for both mails.
// Mails are the gateway's own log.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { receiverKeyOf } from '../../core/ids.ts';
import { mailsWith } from '../../examples/mail/person.ts';
import { mailStory } from '../../examples/mail/story.ts';
import { messageIdOf } from '../../examples/mail/tools.ts';
import { openStoryStage, type StoryStage } from '../../examples/stories/stage.ts';
import { type Counted, principal } from '../../examples/stories/story.ts';
import { asked } from '../../examples/support-desk/answering.ts';
import { builtProgram } from '../support/built-program.ts';
import { scheduledAttempts } from '../support/history-events.ts';

let stage: StoryStage;
let counted: readonly Counted[];
const said: string[] = [];
beforeAll(async () => {
  stage = await openStoryStage(mailStory.cast, {
    existing: inject('temporal').address,
    program: builtProgram,
    say: (line) => void said.push(line),
  });
});
beforeAll(async () => {
  counted = await mailStory.play(stage);
});
afterAll(() => stage.stop());

const attemptsOf = (actionId: string) =>
  scheduledAttempts(inject('temporal'), actionId.split('.')[0] ?? '', actionId);

test('R-040 R-105 B12 mails in doubt are found by Message-ID, each of them once', async () => {
  expect(counted).toMatchObject([
    { effects: 1, settled: '1 attempt, settled by a person' },
    { effects: 1, settled: '2 attempts under one key, settled by a person' },
  ]);
  // The gateway refused nothing: had anything been sent again, it would be there twice.
  const { log } = await stage.receiver.get<{ log: unknown[] }>('/log');
  expect(log).toHaveLength(2);
  expect(said.filter((line) => line.includes('no line'))).toHaveLength(1);
});

test('R-047 while the question is open the run holds, and so does its next mail', async () => {
  const { client, receiver } = stage;
  const runId = `${stage.runId}-holds`;
  const mail = (subject: string) => ({ to: 'bo@example.com', subject, body: '' });
  await receiver.arm({ fault: 'commit_then_drop_reply', bodyIncludes: 'Held' });
  const steps = ['Held', 'After it'].map((subject, index) => ({
    ...{ name: `mail-${index + 1}`, tool: 'send_mail', input: mail(subject) },
  }));
  const run = await client.start(runId, { goal: { kind: 'plan', steps }, principal });
  const actionId = `${runId}.mail-1`;
  const question = await asked(client, { runId, actionId });
  expect(question.evidence).toMatchObject({ level: 'L0' });
  expect(question.question).toContain('mail-gateway');
  expect(await attemptsOf(actionId)).toHaveLength(1);
  expect(await attemptsOf(`${runId}.mail-2`)).toHaveLength(0);

  const messageId = messageIdOf(question.evidence.receiverKey);
  const [line] = await mailsWith(receiver, messageId);
  await client.resolve(runId, {
    ...question.if_yes,
    ...{ actor: 'ann@example.com', reason: 'it is in the log' },
    evidence: { kind: 'receiver_query', source: `gateway log, line ${line?.seq}` },
  } as typeof question.if_yes);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
  expect(await mailsWith(receiver, messageId)).toHaveLength(1);
});

test.each([
  'shop/default/mail.welcome',
  'shop/default/mail..welcome.',
  '.shop/ä ö/run (1)@2.t1.c1',
  'shop/100%/run%2e1.t1.c1',
])('B12 the key %s is a Message-ID of its own, and can be read back', (key) => {
  const local = /^<([^@<>]+)@shop\.example>$/.exec(messageIdOf(key))?.[1] ?? '';
  expect(local).toMatch(/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/);
  expect(decodeURIComponent(local)).toBe(key);
});

test('A2 the key of a mail follows from its action alone', () => {
  const place = { installation: 'mail', namespace: inject('temporal').namespace };
  const key = (actionId: string) => messageIdOf(receiverKeyOf(place, actionId));
  expect(key('r.a')).toBe(key('r.a'));
  expect(key('r.a')).not.toBe(key('r.b'));
});
