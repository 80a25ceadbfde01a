// What the demo says at the end: a table for people, one line for machines.

import type { Tally } from './tally.ts';

export interface Report extends Tally {
  readonly workerKills: number;
  readonly droppedReplies: number;
  readonly seconds: number;
}

/** The one line of `--json`; its keys and their order are part of the demo's contract. */
export function reportLine(report: Report): string {
  const { intents, effects, duplicates, lost, workerKills, droppedReplies } = report;
  const { settledByInquiry, settledByPerson, openUnknowns, seconds } = report;
  return JSON.stringify({
    intents,
    effects,
    duplicates,
    lost,
    workerKills,
    droppedReplies,
    settledByInquiry,
    settledByPerson,
    openUnknowns,
    seconds,
  });
}

export function reportTable(report: Report): string {
  const rows: readonly (readonly [string, number, string])[] = [
    ['intents', report.intents, 'effects the run decided on (ledger)'],
    ['effects', report.effects, 'what the receivers did (their own logs)'],
    ['duplicates', report.duplicates, 'effects beyond one per intent'],
    ['lost', report.lost, 'intents whose effect is nowhere'],
    ['worker kills', report.workerKills, 'SIGKILL, the process gone each time'],
    ['dropped replies', report.droppedReplies, 'done, and the answer lost on the way back'],
    ['settled by inquiry', report.settledByInquiry, 'the receiver was asked'],
    ['settled by a person', report.settledByPerson, 'the receiver cannot be asked'],
    ['open unknowns', report.openUnknowns, 'still not known at the end'],
    ['seconds', report.seconds, ''],
  ];
  return rows
    .map(([name, value, words]) => `${name.padEnd(20)}${String(value).padStart(5)}  ${words}`)
    .join('\n');
}

/** What was promised: nothing doubled, nothing lost, nothing left open. */
export function isClean({ duplicates, lost, openUnknowns }: Report): boolean {
  return duplicates === 0 && lost === 0 && openUnknowns === 0;
}
