// Declarations of a tool that are fine alone and wrong together. One row each: when it is wrong, in
// which field, and what to do.

import { type Contract, keyGaps } from '../core/contract.ts';
import type { Json } from '../core/digest.ts';
import { MODEL_TOOL, type ToolPolicy } from '../core/tool-policy.ts';
import type { Report } from './declarations.ts';
import type { ToolDefinition } from './tool.ts';

interface Declared extends ToolPolicy {
  readonly definition: ToolDefinition<unknown, unknown>;
}

type Row = readonly [string, (tool: Declared) => boolean, string];

const rows: readonly Row[] = [
  [
    'name',
    ({ binding }) => binding.tool === MODEL_TOOL,
    `"${MODEL_TOOL}" is taken by the model calls`,
  ],
  ['description', ({ description }) => description.trim() === '', 'is empty; say what it does'],
  [
    'inquire',
    (tool) => promisesAnswers(tool) && !tool.inquirable,
    'is missing while the receiver is said to answer; write it',
  ],
  [
    'receiver.inquiry',
    (tool) => !promisesAnswers(tool) && tool.inquirable,
    'is none while inquire exists; state what its answers are worth',
  ],
  [
    'fence',
    ({ contract, definition }) => contract.fencing === 'honoured' && definition.fence === undefined,
    'is missing while the receiver is said to honour fences; write it',
  ],
  [
    'receiver.fencing',
    ({ contract, definition }) => contract.fencing === 'none' && definition.fence !== undefined,
    'is none while fence exists; state that it is honoured, or leave fence out',
  ],
  [
    'receiver.continuing',
    ({ contract, continues }) => contract.continuing === 'none' && continues === true,
    'is none while continue exists; state that the protocol is the receiver’s own',
  ],
  [
    'replay',
    ({ replay, continues }) => continues === true && replay !== 'keyed',
    'is not keyed while continue exists: it goes on under the same key',
  ],
  [
    'heartbeatTimeoutMs',
    ({ heartbeatTimeoutMs, startToCloseMs }) => heartbeatTimeoutMs > startToCloseMs,
    'is longer than startToCloseMs',
  ],
];

export function reportContradictions(
  policy: ToolPolicy,
  definition: ToolDefinition<unknown, unknown>,
  report: Report,
): void {
  for (const [field, isWrong, problem] of rows)
    if (isWrong({ ...policy, definition })) report(field, problem);
  if (policy.replay !== 'keyed') return;
  for (const gap of keyGaps(policy.contract))
    report(`receiver.${gap}`, 'is missing; a keyed tool is only as good as its receiver');
}

function promisesAnswers({ contract }: ToolPolicy): boolean {
  return contract.inquiry !== 'none' || contract.closing !== 'none';
}

/** A field that the input has not would leave every two intents as different as before. */
export function reportChangeable(
  { changeable }: Contract,
  inputSchema: Json,
  report: Report,
): void {
  const { properties } = inputSchema as { readonly properties?: Readonly<Record<string, Json>> };
  for (const field of changeable ?? [])
    if (properties === undefined || !Object.hasOwn(properties, field))
      report('receiver.changeable', `names "${field}", which the input has not`);
}
