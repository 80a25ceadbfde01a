// The run as a person can follow it: the ledger's facts as they are written, most of them in words.

import { setTimeout as pause } from 'node:timers/promises';
import type { BodyOf, Fact } from '../../core/facts.ts';
import type { Ledger } from '../../ledger/port.ts';

const POLL_MS = 250;
const PAGE = 200;

export interface Watching {
  /** Says what is still unsaid, then ends. */
  stop(): Promise<void>;
}

export function watchFacts(ledger: Ledger, runId: string, say: (line: string) => void): Watching {
  const ending = new AbortController();
  let seen = 0;
  const catchUp = async () => {
    for (;;) {
      const facts = await ledger.facts(runId, { after: seen, limit: PAGE });
      for (const fact of facts) {
        seen = fact.seq;
        const words = wordsOf(fact, runId);
        if (words !== null) say(words);
      }
      if (facts.length < PAGE) return;
    }
  };
  const watching = (async () => {
    while (!ending.signal.aborted) {
      await catchUp();
      await pause(POLL_MS, null, { signal: ending.signal }).catch(() => undefined);
    }
    await catchUp();
  })();
  return {
    async stop() {
      ending.abort();
      await watching;
    },
  };
}

/** Null where a line would only repeat what another one says. */
export function wordsOf({ body, source }: Fact, runId: string): string | null {
  const short = (actionId: string) => actionId.replace(`${runId}.`, '');
  switch (body.kind) {
    case 'run_opened':
      return `run ${runId} is open, epoch ${body.epoch}`;
    case 'attempt_entered':
      return body.number === 1 ? null : `${short(body.actionId)} is sent again, with the same key`;
    case 'attempt_prepared':
      return null;
    case 'attempt_refused':
      if (body.verdict === 'approval_missing' || body.verdict === 'budget_exhausted')
        return `${short(body.actionId)} waits for a person (${body.verdict})`;
      return `${short(body.actionId)} did not enter (${body.verdict}): certainly not submitted`;
    case 'attempt_settled':
      return settledWords(short(body.actionId), body, source);
    case 'action_in_doubt':
      return `${short(body.actionId)} is unknown: ${body.why}`;
    case 'observation':
      return body.about === 'inquiry'
        ? `${short(body.actionId)}: the receiver says ${body.verdict} (${body.proof ?? 'no proof'})`
        : `${short(body.actionId)}: ${body.about}`;
    case 'resolution':
      return `${short(body.actionId)}: ${body.actor} says ${body.verb}`;
    case 'authority_changed':
      return `${body.actor} says ${body.change.replace('_', ' ')}: ${body.reason}`;
    case 'command_rejected':
      return `a command was rejected: ${body.name}: ${body.why}`;
    case 'run_ended':
      return `the run ended: ${body.end.kind}`;
    case 'payload_erased':
      return `${body.actor} has a payload erased: ${body.reason}`;
  }
}

function settledWords(
  action: string,
  { outcome, externalId }: BodyOf<'attempt_settled'>,
  source: Fact['source'],
): string {
  const id = externalId === null ? '' : ` (${externalId})`;
  if (outcome === 'accepted') return `${action} is accepted${id}; the receiver goes on with it`;
  if (outcome === 'not_taken') return `${action}: this request was not considered`;
  if (outcome === 'refused') return `${action} is refused by the receiver`;
  if (source === 'receiver_inquiry') return `${action} settled: the receiver has it${id}`;
  return source === 'late_result' ? `${action} done${id}, heard late` : `${action} done${id}`;
}
