// Search attributes of runs and questions: a lagging view for filters, never used for decisions.

import { type SearchAttributePair, TypedSearchAttributes } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';
import type { Question } from '../core/question.ts';
import type { SearchAttributeName, SearchState } from '../core/search-attributes.ts';
import { openedOf, type Session } from './session.ts';

function keyword(name: SearchAttributeName, value: string): SearchAttributePair {
  return { key: { name, type: 'KEYWORD' }, value };
}

function int(name: SearchAttributeName, value: number): SearchAttributePair {
  return { key: { name, type: 'INT' }, value };
}

export function questionPairs(question: Question, state: SearchState): SearchAttributePair[] {
  return [
    keyword('HoldfastState', state),
    keyword('HoldfastRun', question.action.runId),
    keyword('HoldfastAction', question.action.actionId),
    keyword('HoldfastTool', question.evidence.tool),
  ];
}

export function questionAttributes(question: Question): TypedSearchAttributes {
  return new TypedSearchAttributes(questionPairs(question, 'unknown'));
}

/** Upserts when something changed; each upsert is an event in history. */
export function runAttributes(session: Session): () => void {
  let before = '';
  return () => {
    if (session.opened === null) return;
    const pairs = [
      keyword('HoldfastState', stateOf(session)),
      keyword('HoldfastRun', session.runId),
      int('HoldfastUnknowns', session.unknowns.size),
      int('HoldfastAuthRevision', openedOf(session).authority.revisions.auth),
    ];
    const now = JSON.stringify(pairs);
    if (now === before) return;
    before = now;
    upsertSearchAttributes(pairs);
  };
}

function stateOf({ result, stop, unknowns, approvals, exhausted, twins }: Session): SearchState {
  if (result !== null) return result.end.kind;
  if (stop !== null) return 'stopped';
  // Before `unknown`, which has a count and, on each question, a value of its own.
  if (approvals.size + twins.size > 0 || exhausted !== null) return 'waiting_human';
  return unknowns.size > 0 ? 'unknown' : 'running';
}
