// Plays one check: every run at once, until all of them are at rest; then reads what is said, lets
// everything arrive that was late, and only then reads what the receivers have written down.
//
// Would catch: a claim that its receiver's log contradicts, then or after the last late request; an
// action that went out twice, or was lost without a word.

import type { Json } from '../../core/digest.ts';
import type { Fact } from '../../core/facts.ts';
import { endText } from '../faults/harness.ts';
import { type Claim, type Effect, type Violation, violationsOf } from './checker.ts';
import type { Operation, Play } from './operations.ts';
import { type Patience, untilAtRest } from './rest.ts';
import { claimsOf } from './said.ts';
import type { ClaimStage } from './stage.ts';

export interface Report {
  readonly claims: readonly Claim[];
  readonly effects: readonly Effect[];
  readonly faults: ReadonlyMap<string, number>;
  readonly ends: readonly string[];
  readonly violations: readonly Violation[];
  /** Runs that had not come to rest in time, and what arrived nowhere. */
  readonly problems: readonly string[];
}

export async function playClaims(
  stage: ClaimStage,
  play: Play,
  patience: Patience,
): Promise<Report> {
  for (const runId of play.runIds) await startRun(stage, runId, opsOf(play, runId));
  const restless = await untilAtRest(stage, play, patience);
  await stage.quiet();
  const before = await allSaid(stage, play);
  for (const wire of stage.wires) await wire.releaseAll();
  const after = await allSaid(stage, play);
  const effects = await effectsAt(stage);
  const early = before.claims.map((each) => ({ ...each, by: `${each.by}, before that,` }));
  const claims = [...early, ...after.claims];
  const faults = summed([stage.strikes, ...stage.wires.map(({ struck }) => struck)]);
  const unreached = [...faults].filter(([kind]) => kind === 'late: receiver gone');
  return {
    ...{ claims: after.claims, effects, faults, ends: after.ends },
    violations: violationsOf({ ops: play.ops.map(({ id }) => id), claims, effects }),
    problems: [...restless, ...unreached.map(([kind, count]) => `${kind}: ${count}`)],
  };
}

function summed(counts: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [kind, count] of counts.flatMap((each) => [...each]))
    sums.set(kind, (sums.get(kind) ?? 0) + count);
  return sums;
}

export function opsOf({ ops }: Play, runId: string): readonly Operation[] {
  return ops.filter((op) => op.runId === runId);
}

async function startRun(
  { client }: ClaimStage,
  runId: string,
  ops: readonly Operation[],
): Promise<void> {
  const steps = ops.map(({ tool, id }) => {
    return { tool, input: inputOf(tool, id), onUnknown: 'continue' as const };
  });
  const principal = { user: 'ada', workspace: 'w1' };
  await client.start(runId, { goal: { kind: 'plan', steps }, principal });
}

function inputOf(tool: Operation['tool'], id: string) {
  if (tool === 'dumb_notice') return { to: 'lead@example.com', subject: id, body: '' };
  if (tool === 'mute_credit') return { account: id, amount: 1 };
  return { counter: id, delta: 1 };
}

async function allSaid({ ledger, client }: ClaimStage, { runIds }: Play) {
  const claims: Claim[] = [];
  const ends: string[] = [];
  for (const runId of runIds) {
    const run = await ledger.read(runId);
    const end = run.ended === null ? null : await client.result(runId);
    claims.push(...claimsOf(run, end));
    ends.push(end === null ? 'waits for answers' : endText(end.end));
  }
  return { claims, ends };
}

/** By what the effect holds: a counter or an account of its own, or the subject of a notice. */
async function effectsAt(stage: ClaimStage): Promise<readonly Effect[]> {
  const rows = await stage.receiver().effects();
  const sent = await stage.gateway().log();
  return [
    ...rows.map(({ externalId, key }) => ({ op: externalId.replace(/@\d+$/, ''), key })),
    ...sent.map(({ mail }) => ({ op: subjectIn(mail), key: null })),
  ];
}

function subjectIn(mail: Json): string {
  return String((mail as { readonly subject?: Json }).subject);
}

/** What the record has about an operation, for whoever looks into a violation. */
export async function factsOf({ ledger }: ClaimStage, op: string): Promise<readonly string[]> {
  const runId = op.slice(0, op.lastIndexOf('.t'));
  const facts = await ledger.facts(runId, { after: 0, limit: 10_000 });
  return facts.filter((fact) => isAbout(fact, op)).map(factText);
}

function isAbout({ body }: Fact, op: string): boolean {
  return 'actionId' in body && body.actionId === op;
}

function factText({ seq, source, body }: Fact): string {
  const words = ['attemptId', 'number', 'verdict', 'outcome', 'proof', 'why', 'detail'] as const;
  const told: Readonly<Record<string, unknown>> = body;
  const said = words.flatMap((word) => (told[word] == null ? [] : [`${word} ${told[word]}`]));
  return [`fact ${seq}`, source, body.kind, ...said].join(', ');
}
