// A run in words: the same words as in the Web UI and in `--json`.

import type { EffectLine, RunResult } from '../core/outcome.ts';
import { authorityLines } from './authority-text.ts';
import { counted, jsonLines } from './lines.ts';
import { outcomeLines } from './question-text.ts';
import type { ActionView, RunView } from './run-view.ts';

export function endText({ end }: RunResult): string {
  if (end.kind === 'stopped') return `stopped (${end.reason})`;
  return end.kind === 'completed' ? 'completed' : 'ended with unknown';
}

export function resultLines(result: RunResult): string[] {
  return [
    `run ${result.runId}: ${endText(result)}${whereToLook(result)}`,
    ...effects('effect', result.effects, result.effectsCount),
    ...effects('unknown', result.unknowns, result.unknownsCount),
    ...effects('late fact', result.lateFacts, result.lateFactsCount),
    `cost: ${result.costText}`,
    'nothing was undone',
  ];
}

/** The result names effects; the step that had none, and why, is in the ledger. */
function whereToLook({ runId, end }: RunResult): string {
  return end.kind === 'stopped' && end.reason === 'blocked'
    ? `; which step was not executed, and why: holdfast state ${runId}`
    : '';
}

function effects(noun: string, lines: readonly EffectLine[], count: number): string[] {
  if (count === 0) return noun === 'effect' ? ['0 effects'] : [];
  const more = count - lines.length;
  return [
    counted(count, noun),
    ...lines.map(effectLine),
    ...(more > 0 ? [`  … and ${more} more; see the ledger`] : []),
  ];
}

function effectLine(line: EffectLine): string {
  const { actionId, tool, outcome, externalId, compensation } = line;
  const words = outcome.replaceAll('_', ' ');
  const name = externalId === null ? '' : `  ${externalId}`;
  return `  ${actionId}  ${tool}  ${words}${name}${undoText(compensation)}`;
}

/** Options only: whoever wants it decides on a new action. */
function undoText(compensation: readonly string[] = []): string {
  return compensation.length === 0 ? '' : `  (could be undone by ${compensation.join(', ')})`;
}

export function viewLines(view: RunView): string[] {
  const { runId, live, recorded, end, workflow } = view;
  return [
    `run ${runId}: ${phaseText(view)}`,
    ...(workflow === null ? [] : [`workflow: ${workflow.type}, ${workflow.status}`]),
    ...(live === null ? noAnswer(view) : liveLines(live)),
    ...(recorded === null && live !== null ? waitingLines(live) : []),
    ...(recorded === null
      ? ['ledger: no facts of this run were read']
      : recordedLines(runId, recorded)),
    ...(end === null ? [] : resultLines(end).slice(1)),
  ];
}

function phaseText({ phase, end, runId }: RunView): string {
  if (end !== null && phase === 'ended') return endText(end);
  if (phase === 'needs_resume')
    return `closed without a recorded end; take it over with: holdfast resume ${runId}`;
  return phase === 'open' ? 'open' : 'closed; without the ledger its end is not known here';
}

function noAnswer({ phase }: RunView): string[] {
  return phase === 'open' ? ['the run itself did not answer: no worker, or it is busy'] : [];
}

function liveLines(live: NonNullable<RunView['live']>): string[] {
  return [
    `now: ${live.phase}${live.revoked ? ', revoked' : ''}`,
    ...(live.waitingFor === null ? [] : [`waits for: ${live.waitingFor}`]),
    ...live.unknowns.map(({ actionId, child }) => `unknown: ${actionId}, asked by ${child}`),
    ...(live.lastRejection === null ? [] : [`last rejected command: ${live.lastRejection}`]),
  ];
}

/** Where the ledger is read, it says more. */
function waitingLines({ approvals, exhausted }: NonNullable<RunView['live']>): string[] {
  return [
    ...approvals.map(
      ({ actionId, tool }) => `waits for an approval: ${tool}; see: holdfast approve ${actionId}`,
    ),
    ...(exhausted === null ? [] : [`waits for a top-up: ${exhausted}`]),
  ];
}

function recordedLines(runId: string, recorded: NonNullable<RunView['recorded']>): string[] {
  const { facts, epoch, goalRevision, authRevision, revoked, canceled, actions } = recorded;
  const flags = `${revoked ? ', revoked' : ''}${canceled ? ', canceled' : ''}`;
  return [
    `ledger: ${counted(facts, 'fact')}, epoch ${epoch}, ` +
      `goal revision ${goalRevision}, authority revision ${authRevision}${flags}`,
    ...authorityLines(runId, recorded),
    ...recorded.twins.flatMap((each) => [
      `waits for an answer: ${each.question}`,
      `  holdfast resolve ${each.actionId}, or the signal (or update) resolve to this run:`,
      ...jsonLines(each.answer, '  '),
    ]),
    ...recorded.disputed.flatMap((each) => [
      `disputed: ${each.question}`,
      ...outcomeLines(each),
      `  both answers: holdfast resolve ${each.action.actionId}`,
    ]),
    ...actions.flatMap(actionLines),
    `cost so far: ${recorded.costText}`,
  ];
}

function actionLines(action: ActionView): string[] {
  const { actionId, tool, word, externalId, axes, attempts } = action;
  const revisions = revisionText(action.revisions);
  const marks = [
    ...(axes.disputed ? ['disputed'] : []),
    ...(action.abandoned ? ['abandoned'] : []),
    ...(action.compensates === null ? [] : [`undoes ${action.compensates}`]),
    ...(externalId === null ? [] : [externalId]),
    ...(action.refusal === null ? [] : [action.refusal, `asked under ${revisions}`]),
  ];
  return [
    `  ${actionId}  ${tool ?? '(no tool)'}  ${word}${marks.map((mark) => `  ${mark}`).join('')}`,
    `    submission ${axes.submission}, execution ${axes.execution}, effect ${axes.effect}, ` +
      `acceptance ${axes.acceptance}, result ${axes.result}, cost ${axes.cost}`,
    ...attempts.flatMap(attemptLines),
  ];
}

function attemptLines(attempt: ActionView['attempts'][number]): string[] {
  const { number, attemptId, state, enteredAt, goalRevision, authRevision, late } = attempt;
  return [
    `    attempt ${number} ${state.replaceAll('_', ' ')}, entered ${enteredAt}, ` +
      `under ${revisionText({ goal: goalRevision, auth: authRevision })}` +
      `${late ? ', late' : ''}, ${attemptId}`,
    ...(attempt.refusal === null ? [] : [`      ${attempt.refusal}`]),
  ];
}

function revisionText({ goal, auth }: ActionView['revisions']): string {
  return `goal revision ${goal}, authority revision ${auth}`;
}
