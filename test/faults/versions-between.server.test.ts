// What a keyed action depends on changes between two of its attempts, at a real worker. Would
// catch: a second attempt that goes out on what is no longer so, and one whose refusal is taken for
// the proof that the first had no effect.

import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Versions } from '../../core/fact-fields.ts';
import { ALL, type AuthorityStage, openAuthorityStage } from '../support/authority-stage.ts';
import { type Meanwhile, meanwhileFile, versionsFile } from '../support/authority-tools.ts';
import { answerAs } from '../support/fault-person.ts';
import { asked } from '../support/fault-stage.ts';

const before: Versions = { object: '7', dependencies: 'rates 3', credentials: 'ada/write' };

let stage: AuthorityStage;
beforeAll(async () => {
  stage = await openAuthorityStage();
  await stage.worker(ALL);
});
afterAll(() => stage.close());

/** The first attempt is answered so, and meanwhile the versions change. */
function meanwhile(runId: string, { answer, versions }: Meanwhile): void {
  writeFileSync(versionsFile(stage.files, runId), JSON.stringify(before));
  writeFileSync(meanwhileFile(stage.files, runId), JSON.stringify({ answer, versions }));
}

test.each([
  ['object', 429, '8'],
  ['dependencies', 503, 'rates 4'],
  ['credentials', 503, 'ada/read'],
] as const)(
  'R-095 R-111 turned away, then its %s is another: no second attempt',
  async (which, answer, now) => {
    const runId = `changed-${which}`;
    meanwhile(runId, { answer, versions: { ...before, [which]: now } });
    const step = { tool: 'versioned', input: { counter: runId, delta: 1 } };
    const run = await stage.begin(runId, [step]);
    expect(await run.result()).toMatchObject({
      ...{ end: { kind: 'stopped', reason: 'blocked' }, effectsCount: 0, unknownsCount: 0 },
    });
    expect(await stage.bodies(runId, 'attempt_refused')).toMatchObject([
      { verdict: `${which}_changed`, detail: `decided on ${before[which]}; it is ${now} now` },
    ]);
    const attempts = await stage.bodies(runId, 'attempt_settled');
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['not_taken']);
    expect(await stage.requests(runId)).toEqual([]);
  },
);

test('R-111 turned away, and nothing is another: the second attempt goes out', async () => {
  const runId = 'unchanged';
  meanwhile(runId, { answer: 429, versions: before });
  const run = await stage.begin(runId, [
    { tool: 'versioned', input: { counter: runId, delta: 1 } },
  ]);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(await stage.arrived(`${runId}.t1.c1`)).toEqual(['executed']);
});

test('R-095 R-111 an older attempt is open: asked about, not sent again', async () => {
  const [runId, actionId] = ['open-before', 'open-before.t1.c1'];
  meanwhile(runId, { answer: 'lost', versions: { ...before, credentials: 'ada/read' } });
  const step = { tool: 'mute_versioned', input: { account: runId, amount: 5 } };
  const run = await stage.begin(runId, [step]);
  const question = await asked(stage.client, actionId);
  expect((await stage.bodies(runId, 'attempt_refused')).map(({ verdict }) => verdict)).toEqual([
    'credentials_changed',
  ]);
  expect((await stage.client.state(runId)).recorded?.actions).toMatchObject([
    { actionId, word: 'unknown', attempts: [{ state: 'open' }] },
  ]);
  expect(await stage.arrived(actionId)).toEqual(['executed']);
  await answerAs(stage.client, question, 'yes', 'statement of the account');
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(await stage.arrived(actionId)).toEqual(['executed']);
});
