// Recorded histories as files: nothing of the machine that recorded them, and what they decided.

import { readdirSync, readFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter } from '@temporalio/common';
import {
  type History,
  historyFromJSON,
  historyToJSON,
} from '@temporalio/common/lib/proto-utils.js';
import * as z from 'zod';
import { projectRoot } from '../support/project-files.ts';
import type { Decision } from './interceptors.ts';

const folder = join(projectRoot, 'test/replay/histories');

export function historyPath(name: string): string {
  return join(folder, `${name}.json`);
}

export function historyNames(): string[] {
  return readdirSync(folder).map((file) => file.replace(/\.json$/, ''));
}

export function readHistory(name: string): History {
  return historyFromJSON(JSON.parse(readFileSync(historyPath(name), 'utf8')));
}

const fileSchema = z.object({ events: z.array(z.json()).min(1) });

/** Text of a file, one event a line. Throws when something of this machine is left in it. */
export function historyText(history: History): string {
  const { events } = fileSchema.parse(JSON.parse(historyToJSON(history), neutral));
  const text = `{"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
  const left = [`@${hostname()}`, projectRoot, tmpdir()].find((word) =>
    decoded(text).includes(word),
  );
  if (left !== undefined) throw new Error(`the history says "${left}"; make it neutral, too`);
  return text;
}

function decoded(text: string): string {
  return text.replaceAll(/(?<="data":")[^"]+/g, (data) => Buffer.from(data, 'base64').toString());
}

/** Identities and sticky queues name process and host, stack traces name paths. */
function neutral(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (key === 'identity') return 'recorder';
  if (key === 'stackTrace') return '';
  return value.replace(/^\d+@.*$/, 'recorder');
}

/** What the workflow scheduled, in order. */
export function decisionsIn(history: History): Decision[] {
  return (history.events ?? []).flatMap((event) => {
    const activity = event.activityTaskScheduledEventAttributes;
    const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
    const type = activity?.activityType?.name ?? child?.workflowType?.name;
    return type == null ? [] : [{ type, args: valuesIn((activity ?? child)?.input) }];
  });
}

/** What the workflow returned, or gave to its next execution. Throws where it did neither. */
export function resultIn(history: History): unknown {
  const last = history.events?.at(-1);
  const next = last?.workflowExecutionContinuedAsNewEventAttributes;
  if (next != null) return valuesIn(next.input);
  const completed = last?.workflowExecutionCompletedEventAttributes;
  if (completed == null) throw new Error('the history does not end by a completion');
  return valuesIn(completed.result)[0];
}

const markerSchema = z.object({ id: z.string() });

/** Ids of the patches whose new way it went. */
export function patchesIn(history: History): string[] {
  return (history.events ?? []).flatMap(({ markerRecordedEventAttributes: marker }) =>
    valuesIn(marker?.details?.['patch-data']).map((each) => markerSchema.parse(each).id),
  );
}

type Payloads = NonNullable<
  NonNullable<History['events']>[number]['workflowExecutionCompletedEventAttributes']
>['result'];

function valuesIn(payloads: Payloads | undefined): unknown[] {
  return (payloads?.payloads ?? []).map((one) => defaultPayloadConverter.fromPayload(one));
}

export function workflowIdIn(history: History): string {
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  if (started?.workflowId == null) throw new Error('the history does not say its workflow id');
  return started.workflowId;
}
