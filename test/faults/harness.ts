// Plays one scenario with real processes, and looks at what the receivers have written down.

import { digestOf } from '../../core/digest.ts';
import { actionIdOf, callPosition } from '../../core/ids.ts';
import { type EffectRow, type Tally, tallyOf } from '../../examples/support-desk/tally.ts';
import type { Goal } from '../../workflows/messages.ts';
import { answerTruly } from '../support/fault-person.ts';
import { type FaultStage, until } from '../support/fault-stage.ts';
import { type Scenario, STEPS } from './scenarios.ts';

const REACHED_MS = 90_000;
const LATE_MS = 60_000;

export interface Observed extends Tally {
  readonly end: string;
  readonly entered: number;
  readonly requests: number;
}

export interface Play {
  readonly runId: string;
  /** Which step is struck, from 0. */
  readonly victim: number;
}

/** The stage may have played other scenarios before: only this run's effects are counted. */
export async function play(
  stage: FaultStage,
  scenario: Scenario,
  { runId, victim }: Play,
): Promise<Observed> {
  const { strike, holds } = scenario;
  const actionId = actionIdOf(runId, callPosition(victim + 1, 1));
  await arm(stage, scenario, actionId);
  const worker = await stage.worker();
  const principal = { user: 'ada', workspace: 'w1' };
  const run = await stage.client.start(runId, { goal: planOf(scenario, runId), principal });
  if (strike.kind === 'kill') {
    await worker.line(`REACHED ${strike.point} `, REACHED_MS);
    await worker.kill();
    await stage.worker();
  }
  if (holds.settledBy === 'person') await answerTruly(stage, actionId);
  const result = await run.result();
  if (strike.kind === 'receiver') await arrived(stage, strike.fault.fault, actionId);
  return observe(stage, { runId, actionId, end: endText(result.end) });
}

/** What is wrong with what was observed; empty when everything holds. */
export function problemsOf({ holds, tool }: Scenario, observed: Observed): readonly string[] {
  const wanted = {
    end: 'completed',
    intents: STEPS,
    effects: STEPS,
    duplicates: 0,
    lost: 0,
    openUnknowns: 0,
    entered: holds.entered,
    ...(tool === 'open_ticket' && holds.requests !== undefined ? { requests: holds.requests } : {}),
    settledByInquiry: holds.settledBy === 'inquiry' ? 1 : 0,
    settledByPerson: holds.settledBy === 'person' ? 1 : 0,
  };
  return Object.entries(wanted).flatMap(([name, value]) => {
    const seen = observed[name as keyof Observed];
    return seen === value ? [] : [`${name} is ${seen}, not ${value}`];
  });
}

function planOf({ tool }: Scenario, runId: string): Goal {
  const steps = Array.from({ length: STEPS }, (_, index) => ({
    tool,
    input: inputOf(tool, actionIdOf(runId, callPosition(index + 1, 1))),
  }));
  return { kind: 'plan', steps };
}

/** Tickets of a run are equal on purpose; the gateway's log must tell its notices apart. */
function inputOf(tool: Scenario['tool'], actionId: string) {
  return tool === 'open_ticket'
    ? { subject: `The printer is offline (${actionId.split('.', 1)[0]})` }
    : { to: 'lead@example.com', subject: `Notice ${actionId}`, body: 'The printer is offline' };
}

async function arm(
  { arm: armPoint, receiver, gateway }: FaultStage,
  { strike, tool }: Scenario,
  actionId: string,
): Promise<void> {
  if (strike.kind === 'kill') armPoint({ point: strike.point, actionId });
  else if (tool === 'open_ticket') await receiver.arm({ ...strike.fault, keyIncludes: actionId });
  else await gateway.arm({ ...strike.fault, bodyIncludes: `Notice ${actionId}` });
}

/** A delayed request must have come before anything is counted. */
async function arrived({ receiver }: FaultStage, fault: string, actionId: string): Promise<void> {
  if (fault !== 'delayed_commit') return;
  await until('the delayed request', LATE_MS, async () => {
    const { passedOn } = await receiver.faults();
    return passedOn.some(({ key }) => key.endsWith(actionId));
  });
}

interface Of {
  readonly runId: string;
  readonly actionId: string;
  readonly end: string;
}

async function observe(stage: FaultStage, { runId, actionId, end }: Of): Promise<Observed> {
  const run = await stage.ledger.read(runId);
  const facts = await stage.ledger.facts(runId, { after: 0, limit: 10_000 });
  const requests = await stage.receiver.requests();
  return {
    ...tallyOf({ run, facts, effects: await effectRows(stage, runId) }),
    end,
    entered: run.actions.get(actionId)?.attempts.length ?? 0,
    requests: requests.filter(({ kind, key }) => kind === 'execute' && key.endsWith(actionId))
      .length,
  };
}

/** Of one run: its key is in each row's key, or its id in the notice's subject. */
export async function effectRows(
  { receiver, gateway }: FaultStage,
  runId: string,
): Promise<readonly EffectRow[]> {
  const effects = (await receiver.effects()).filter(({ key }) => key.includes(`/${runId}.`));
  const sent = (await gateway.log()).filter(({ mail }) =>
    JSON.stringify(mail).includes(` ${runId}.`),
  );
  return [
    ...effects.map(({ key }) => ({ receiver: 'reference', key, payload: null })),
    ...sent.map(({ mail }) => ({ receiver: 'gateway', key: null, payload: digestOf(mail) })),
  ];
}

export function endText(end: { readonly kind: string; readonly reason?: string }): string {
  return end.reason === undefined ? end.kind : `${end.kind}: ${end.reason}`;
}
