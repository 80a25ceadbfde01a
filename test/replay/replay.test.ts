// Recorded histories on today's workflows: no server, no activities, nothing outside is reached.

import { readFileSync } from 'node:fs';
import { defaultPayloadConverter } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import {
  DefaultLogger,
  type InjectedSinks,
  makeTelemetryFilterString,
  Runtime,
  Worker,
} from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { bundleWorkflows, packageFile } from '../../workers/workflow-bundle.ts';
import { patches } from '../../workflows/patches.ts';
import {
  decisionsIn,
  historyNames,
  patchesIn,
  readHistory,
  resultIn,
  workflowIdIn,
} from './histories.ts';
import type { Decision, Telling } from './interceptors.ts';

const BUNDLE_MS = 120_000;
const REPLAY_MS = 60_000;

let code = '';

// What goes wrong is asserted; the SDK also writes it.
Runtime.install({
  logger: new DefaultLogger('ERROR', () => undefined),
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
});

beforeAll(async () => {
  const { codePath } = await bundleWorkflows({
    workflowsPath: packageFile(import.meta.url, './workflows'),
    interceptorPaths: [packageFile(import.meta.url, './interceptors')],
  });
  code = readFileSync(codePath, 'utf8');
}, BUNDLE_MS);

interface Replayed {
  readonly decisions: Decision[];
  readonly results: unknown[];
}

/** As JSON, like what was recorded. Rejects where Temporal sees another workflow. */
async function replay(history: History, workflowCode = code): Promise<Replayed> {
  const replayed: Replayed = { decisions: [], results: [] };
  const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
  const sinks: InjectedSinks<Telling> = {
    told: {
      decision: {
        callDuringReplay: true,
        fn: (_, decision) => void replayed.decisions.push(plain(decision)),
      },
      result: {
        callDuringReplay: true,
        fn: (_, result) => void replayed.results.push(plain(result)),
      },
    },
  };
  const options = { workflowBundle: { code: workflowCode }, sinks };
  await Worker.runReplayHistory(options, history, workflowIdIn(history));
  return replayed;
}

const names = historyNames();

test.each(names)(
  'R-066 %s replays: it asks for the same, and ends the same',
  async (name) => {
    const history = readHistory(name);
    const { decisions, results } = await replay(history);
    expect(withoutVerbs(decisions)).toEqual(withoutVerbs(decisionsIn(history)));
    expect(decisions.length).toBeGreaterThan(0);
    expect(withoutVerbs(results)).toEqual(withoutVerbs([resultIn(history)]));
  },
  REPLAY_MS,
);

/** The words of a rejection list the verbs that there are, for people; there come to be more. */
function withoutVerbs(told: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(told).replaceAll(verbList, 'verb: one of them'));
}

const verbList = /verb: Invalid discriminator value\. Expected '\w+'(?: \| '\w+')*/g;

test('R-066 runs that went well, and runs that were struck in every way, are recorded', () => {
  const kinds = [
    ...['-plan-', '-model-batch', '-revoked-in-flight', 'unknownAction-', 'invoice-'],
    ...['-settled-by-a-person', '-reset-in-flight', '-canceled-in-flight', '-forged-result'],
    ...['-resumed-after-terminate', '-paused-until-overdue', '-failed-after-its-result'],
    ...['-continued-with-an-unknown', '-carries-commands-on', '-continued-with-commands'],
    ...['-ended-before-its-copy', '-walk-longer-than-a-history'],
    ...['-adopted-question-ended', '-question-ended-beside-the-run', '-recorded-in-turn'],
    ...['-approved-and-topped-up', '-denied', '-amended-in-flight', '-doubted-as-scheduled'],
    ...['-told-from-its-twin'],
    ...['-waits-for-an-answer'],
  ];
  expect(kinds.filter((kind) => !names.some((name) => name.includes(kind)))).toEqual([]);
});

const gone = new Map(names.map((name) => [name, patchesIn(readHistory(name))]));

test('R-066 every patch has a recorded history that went its new way', () => {
  const all = [...gone.values()].flat();
  expect(Object.values(patches).filter((patch) => !all.includes(patch))).toEqual([]);
});

test.each(Object.values(patches))(
  'R-066 a workflow that has lost the patch %s does not replay',
  async (patch) => {
    const without = changed(new RegExp(`(['"])${patch}\\1`, 'g'), "'lost'");
    for (const name of names.filter((each) => gone.get(each)?.includes(patch)))
      await expect(replay(readHistory(name), without)).rejects.toThrow(DeterminismViolationError);
  },
  REPLAY_MS,
);

const planned = names.find((name) => name.startsWith('agentRun-') && name.includes('-plan-')) ?? '';

test(
  'R-066 a workflow with one command more does not replay',
  async () => {
    const history = readHistory(planned);
    const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    Object.assign(started?.workflowType ?? {}, { name: 'agentRunAfterPause' });
    await expect(replay(history)).rejects.toThrow(DeterminismViolationError);
  },
  REPLAY_MS,
);

test(
  'R-066 a workflow with other positions does not replay',
  async () => {
    const renamed = changed(/return `t(?=\$\{turn\}\.c)/g, 'return `turn');
    await expect(replay(readHistory(planned), renamed)).rejects.toThrow(DeterminismViolationError);
  },
  REPLAY_MS,
);

test(
  'R-066 other arguments of an activity, which Temporal does not compare, are seen',
  async () => {
    const history = readHistory(planned);
    const { decisions } = await replay(history, changed(/(?<=consumes: ['"])genesis/g, 'origin'));
    expect(decisions.map(({ type }) => type)).toEqual(decisionsIn(history).map(({ type }) => type));
    expect(decisions).not.toEqual(decisionsIn(history));
  },
  REPLAY_MS,
);

/** The bundle after an edit. Throws where there is nothing to edit any more. */
function changed(what: RegExp, into: string): string {
  const text = code.replaceAll(what, into);
  if (text === code) throw new Error(`${what} is not in the bundle`);
  return text;
}

test(
  'R-066 a replayed run takes each reply as it was recorded; nothing is asked again',
  async () => {
    const history = readHistory(planned);
    const last = history.events?.findLast((event) => event.activityTaskCompletedEventAttributes);
    const completed = last?.activityTaskCompletedEventAttributes;
    const [payload] = completed?.result?.payloads ?? [];
    if (completed == null || payload === undefined) throw new Error('no reply of endRun');
    const reply = replySchema.parse(defaultPayloadConverter.fromPayload(payload));
    reply.result.costText = 'as recorded';
    completed.result = { payloads: [defaultPayloadConverter.toPayload(reply)] };
    expect((await replay(history)).results).toMatchObject([{ costText: 'as recorded' }]);
  },
  REPLAY_MS,
);

const replySchema = z.looseObject({ result: z.looseObject({ costText: z.string() }) });
