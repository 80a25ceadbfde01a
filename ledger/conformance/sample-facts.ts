// Facts that obey every cross-record rule, for checking stores: a run of numbered steps, each with
// one attempt.

import { genesisBase, rolledOf } from '../../core/consumes.ts';
import type { GateRow, LedgerIdentity, NewPayload } from '../../core/decision.ts';
import { canonicalBytes, digestOf, digestOfBytes } from '../../core/digest.ts';
import type { PayloadRef } from '../../core/fact-fields.ts';
import type { BodyOf, FactBody, NewFact } from '../../core/facts.ts';
import { actionIdOf, attemptIdOf, callPosition, resultIdOf } from '../../core/ids.ts';

const revisions = { goal: 1, auth: 1 };
const binding = { tool: 'open_ticket', version: '1', digest: digestOf('binding') };

export function payloadOf(value: unknown): NewPayload {
  const bytes = canonicalBytes(value);
  return { digest: digestOfBytes(bytes), bytes };
}

export function refOf({ digest, bytes }: NewPayload): PayloadRef {
  return { digest, bytes: bytes.byteLength };
}

function fact(body: FactBody): NewFact {
  return { source: 'execution', body };
}

export interface Step {
  readonly runId: string;
  readonly step: number;
}

export function actionOf({ runId, step }: Step): string {
  return actionIdOf(runId, callPosition(step, 1));
}

export function attemptOf(step: Step): string {
  return attemptIdOf(actionOf(step), '0123456789abcdef');
}

/** Equal steps of different runs have the same payload, hence are twins of each other. */
export function inputOf({ step }: Step): NewPayload {
  return payloadOf({ title: `ticket ${step}` });
}

export function intentOf(step: Step) {
  return digestOf({ intent: inputOf(step).digest });
}

export function opened(ledger: LedgerIdentity): NewFact {
  const goal = refOf(payloadOf({ goal: 'answer the mails' }));
  return fact({
    kind: 'run_opened',
    claim: {
      owner: 'conformance',
      scope: 'effects',
      firstExecutionRunId: 'first',
      ticket: null,
      oldExecutor: 'there was none',
    },
    epoch: 1,
    principal: { user: 'ada', workspace: 'desk' },
    goal,
    revisions,
    grants: ['effect', 'query'],
    catalog: goal,
    bindings: [binding],
    scope: { installation: 'test', namespace: 'default' },
    ledger: { id: ledger.id, incarnation: ledger.incarnation },
  });
}

export function entered(step: Step, entryToken = 'token'): NewFact {
  const consumes = { base: genesisBase(step.runId), pairs: [] };
  return fact({
    kind: 'attempt_entered',
    actionId: actionOf(step),
    attemptId: attemptOf(step),
    position: callPosition(step.step, 1),
    number: 1,
    entryToken,
    resultId: resultIdOf(attemptOf(step)),
    payload: refOf(inputOf(step)),
    binding,
    replay: 'never',
    onUnknown: 'hold',
    domain: 'desk',
    receiverKey: `test/default/${actionOf(step)}`,
    intentDigest: intentOf(step),
    continuing: 'none',
    resendUntil: null,
    revisions,
    sendToken: { epoch: 1, number: 1 },
    consumes,
    rolled: rolledOf(consumes),
    permit: null,
    verify: { method: 'none', why: 'there is no receiver' },
  });
}

export function enteredRow(step: Step, entryToken = 'token'): GateRow {
  return { kind: 'entered', attemptId: attemptOf(step), actionId: actionOf(step), entryToken };
}

/** The next attempt waits for a person: for a permission, or for more budget. */
export function waits(step: Step, verdict: 'approval_missing' | 'budget_exhausted'): NewFact {
  const payload = refOf(inputOf(step));
  const asks = { bound: intentOf(step), validForMs: null, versions: {} };
  return fact({
    kind: 'attempt_refused',
    actionId: actionOf(step),
    attemptId: attemptIdOf(actionOf(step), 'fedcba9876543210'),
    position: callPosition(step.step, 1),
    verdict,
    detail: 'a person is asked',
    payload,
    tool: binding.tool,
    revisions,
    ...(verdict === 'approval_missing' ? { asks } : {}),
  });
}

export function settled(step: Step, result: NewPayload): NewFact {
  const body: BodyOf<'attempt_settled'> = {
    kind: 'attempt_settled',
    actionId: actionOf(step),
    attemptId: attemptOf(step),
    resultId: resultIdOf(attemptOf(step)),
    outcome: 'executed',
    result: refOf(result),
    resultMissing: null,
    parts: [],
    externalId: `ticket-${step.step}`,
    objectVersion: null,
    refusal: null,
    calls: [],
    cost: { kind: 'none' },
    revisions,
  };
  return fact(body);
}

export function inDoubt(step: Step): NewFact {
  return fact({
    kind: 'action_in_doubt',
    actionId: actionOf(step),
    attemptIds: [attemptOf(step)],
    why: 'its reply was lost',
    revisions,
  });
}

export function abandoned(step: Step): NewFact {
  return answered(step, { verb: 'abandon' });
}

/** After a settlement as executed it makes the action disputed. */
export function denied(step: Step): NewFact {
  const evidence = { kind: 'receiver_query', source: 'its list, whole' } as const;
  return answered(step, { verb: 'confirm_not_executed', evidence, coverage: 'all of it' });
}

function answered(
  step: Step,
  answer: Pick<BodyOf<'resolution'>, 'verb'> & Partial<BodyOf<'resolution'>>,
): NewFact {
  return {
    source: 'human',
    body: {
      kind: 'resolution',
      actionId: actionOf(step),
      commandId: `${answer.verb} ${actionOf(step)}`,
      actor: 'ada',
      reason: 'looked it up',
      evidence: null,
      coverage: null,
      recordVersion: 1,
      externalId: null,
      result: null,
      oldRequestCannotArrive: false,
      acceptsPossibleDuplicate: false,
      permit: null,
      ...answer,
    },
  };
}

export function ended(): NewFact {
  return fact({
    kind: 'run_ended',
    end: { kind: 'completed' },
    epoch: 1,
    openUnknowns: [],
    answer: null,
  });
}

export function erased(payload: NewPayload): NewFact {
  return {
    source: 'human',
    body: { kind: 'payload_erased', digest: payload.digest, actor: 'ada', reason: 'asked for' },
  };
}

/** Breaks a cross-record rule: there is no such attempt. */
export function orphanResult(runId: string): NewFact {
  return settled({ runId, step: 999 }, payloadOf('orphan'));
}
