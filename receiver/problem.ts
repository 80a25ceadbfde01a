// Answers as HTTP: one table from answer to status, title and whether a new key is safe.
//
// `operation_state` in each body is the kind of the answer, word for word. `safe_new_key` is true
// only where this key is at its end and nothing was executed under it.

import type {
  Answer,
  AnswerKind,
  Belonging,
  Closing,
  Executed,
  Fencing,
  Inquiry,
  Rejected,
} from './answer.ts';
import { encodeHeaderText, headerNames } from './wire.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** null: no body. */
  readonly body: string | null;
}

interface ProblemRow {
  readonly status: number;
  readonly type: string;
  readonly title: string;
  readonly safeNewKey: boolean;
}

const row = (status: number, type: string, title: string, safeNewKey = false): ProblemRow => ({
  status,
  type: `urn:holdfast:problem:${type}`,
  title,
  safeNewKey,
});

export const problemTable = {
  rejected: row(409, 'operation_rejected', 'The receiver decided against the operation', true),
  key_reused: row(422, 'idempotency_key_reused', 'The key belongs to another payload'),
  in_progress: row(409, 'operation_in_progress', 'A request with this key is at work'),
  lease_expired: row(409, 'claim_lease_expired', 'The claim was lost by time to another request'),
  unknown: row(500, 'operation_uncertain', 'Executed or not: not known here'),
  closed: row(410, 'operation_closed', 'Closed by an inquiry; not executed'),
  fenced: row(409, 'fenced_by_newer_epoch', 'A newer epoch owns the scope; not executed'),
  outside_window: row(412, 'outside_window', 'Too old to tell new from forgotten'),
  invalid: row(400, 'invalid_request', 'Not understood; nothing was stored'),
  not_taken: row(503, 'operation_not_taken', 'Not considered; nothing was stored'),
} as const satisfies Record<Exclude<AnswerKind, 'executed'>, ProblemRow>;

const RETRY_AFTER = 'Retry-After';

export function httpOfAnswer(answer: Answer): HttpAnswer {
  const replayed = 'replayed' in answer && answer.replayed;
  const marks = {
    [headerNames.status]: statusWord(answer, replayed),
    ...(replayed ? { [headerNames.replayed]: 'true' } : {}),
  };
  if (answer.kind === 'executed') return executedAnswer(answer, marks);
  const known = problemTable[answer.kind];
  const safeNewKey = answer.kind === 'closed' ? answer.through === null : known.safeNewKey;
  return problem({ ...known, safeNewKey }, detailOf(answer), {
    headers: { ...marks, ...retryHeader(answer) },
    members: { operation_state: answer.kind, ...membersOf(answer) },
  });
}

function statusWord(answer: Answer, replayed: boolean): string {
  if (answer.kind === 'executed') return replayed ? 'replayed' : 'executed';
  return answer.kind === 'in_progress' ? 'in_progress' : 'rejected';
}

/** 204 when the operation has no result; then the ids are in the headers alone. */
function executedAnswer(executed: Executed, marks: Readonly<Record<string, string>>): HttpAnswer {
  const headers = {
    ...marks,
    [headerNames.externalId]: encodeHeaderText(executed.externalId),
    ...(executed.objectVersion === undefined
      ? {}
      : { [headerNames.objectVersion]: encodeHeaderText(executed.objectVersion) }),
  };
  if (executed.result === undefined) return { status: 204, headers, body: null };
  return json(200, executedMembers(executed), headers);
}

function executedMembers(executed: Executed): Record<string, unknown> {
  return {
    operation_state: 'executed',
    safe_new_key: false,
    external_id: executed.externalId,
    ...(executed.objectVersion === undefined ? {} : { object_version: executed.objectVersion }),
    ...(executed.result === undefined ? {} : { result: executed.result }),
  };
}

function rejectedMembers(rejected: Rejected): Record<string, unknown> {
  const { code, message } = rejected;
  return { operation_state: 'rejected', safe_new_key: true, code, detail: message };
}

/** Which payload the key belongs to: the input as it came, and the name its caller gave it. */
function belongingMembers({ digest, payloadDigest }: Belonging): Record<string, unknown> {
  return {
    ...(digest === undefined ? {} : { input_digest: digest }),
    ...(payloadDigest === undefined ? {} : { payload_digest: payloadDigest }),
  };
}

function openMembers(state: string, of: Belonging): Record<string, unknown> {
  return { operation_state: state, safe_new_key: false, ...belongingMembers(of) };
}

/** Answers to questions are 200 (202: ask again), so that a 404 never reads as "no record". */
export function httpOfInquiry(inquiry: Inquiry): HttpAnswer {
  switch (inquiry.kind) {
    case 'executed':
      return json(200, { ...executedMembers(inquiry), ...belongingMembers(inquiry) });
    case 'rejected':
      return json(200, { ...rejectedMembers(inquiry), ...belongingMembers(inquiry) });
    case 'no_record':
      return json(200, { operation_state: 'no_record', safe_new_key: false });
    case 'processing':
      return json(202, openMembers('processing', inquiry), retryHeader(inquiry));
    case 'unknown':
      return json(200, { ...openMembers('unknown', inquiry), detail: inquiry.detail });
    default:
      return unanswered(inquiry);
  }
}

export function httpOfClosing(closing: Closing): HttpAnswer {
  switch (closing.kind) {
    case 'executed':
      return json(200, { ...executedMembers(closing), ...belongingMembers(closing) });
    case 'rejected':
      return json(200, { ...rejectedMembers(closing), ...belongingMembers(closing) });
    case 'not_executed': {
      const { closed, through } = closing;
      const safe_new_key = through === null;
      return json(200, { operation_state: 'not_executed', closed, through, safe_new_key });
    }
    case 'in_flight':
      return json(202, openMembers('in_flight', closing), retryHeader(closing));
    default:
      return unanswered(closing);
  }
}

export function httpOfFencing(fencing: Fencing): HttpAnswer {
  if (fencing.kind === 'fenced') return json(200, { fenced: true, epoch: fencing.epoch });
  if (fencing.kind === 'stale')
    return problem(problemTable.fenced, detailOf(fencing), { members: { epoch: fencing.epoch } });
  return unanswered(fencing);
}

type Unanswered = Extract<Inquiry, { kind: 'fenced' | 'invalid' | 'unavailable' }>;

function unanswered(answer: Unanswered): HttpAnswer {
  if (answer.kind === 'fenced') {
    const members = { operation_state: answer.kind, epoch: answer.epoch };
    return problem(problemTable.fenced, detailOf(answer), { members });
  }
  const known = answer.kind === 'invalid' ? problemTable.invalid : problemTable.not_taken;
  return problem(known, answer.detail, {
    headers: retryHeader(answer),
    members: { operation_state: answer.kind },
  });
}

export function problem(
  known: ProblemRow,
  detail: string,
  more: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly members?: Readonly<Record<string, unknown>>;
  } = {},
): HttpAnswer {
  const { status, type, title, safeNewKey } = known;
  const body = { type, title, status, detail, safe_new_key: safeNewKey, ...more.members };
  const headers = { ...more.headers, 'Content-Type': 'application/problem+json' };
  return { status, headers, body: JSON.stringify(body) };
}

export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  const type = { 'Content-Type': 'application/json' };
  return { status, headers: { ...headers, ...type }, body: JSON.stringify(body) };
}

/** Whole seconds, as the header wants them, never 0. */
function retryHeader(answer: object): Record<string, string> {
  if (!('retryAfterMs' in answer)) return {};
  return { [RETRY_AFTER]: String(Math.max(1, Math.ceil(Number(answer.retryAfterMs) / 1_000))) };
}

type Told = Exclude<Answer, { kind: 'executed' }> | Extract<Fencing, { kind: 'stale' }>;

function detailOf(answer: Told): string {
  switch (answer.kind) {
    case 'rejected':
      return answer.message;
    case 'key_reused':
      return 'send the payload that this key was first used with, or decide on a new operation';
    case 'in_progress':
      return 'ask again with the same key';
    case 'closed':
      return answer.through === null
        ? 'the whole key is closed; going on is a new operation'
        : 'only a later send token may use this key';
    case 'fenced':
    case 'stale':
      return `epoch ${answer.epoch} holds the scope; stop`;
    case 'outside_window':
      return `records are kept ${answer.retentionMs} ms; ask a person what happened`;
    default:
      return answer.detail;
  }
}

function membersOf(answer: Answer): Record<string, unknown> {
  if (answer.kind === 'rejected') return { code: answer.code };
  if (answer.kind === 'closed') return { through: answer.through };
  return answer.kind === 'fenced' ? { epoch: answer.epoch } : {};
}
