// What one check plays, drawn from a seed: operations over receivers of every level, what happens
// to each of their requests on its way, and when a process is stopped, killed or started anew. The
// same seed gives the same play; only its moments are the machine's. Pure.

import { actionIdOf, callPosition } from '../../core/ids.ts';
import { randomFrom } from '../support/random.ts';

/** What can happen to one request that would have an effect. */
export const requestFaults = [
  'drop_request',
  'drop_reply',
  /** The caller is left alone; it arrives once somebody has been told something about it. */
  'past_the_inquiry',
  /** The same, after every claim has been read. */
  'at_the_end',
  /** The same, within what the contract allows an old request. */
  'briefly_late',
  'delivered_twice',
  /** Delivered, and once more after every claim has been read. */
  'again_at_the_end',
  /** The caller waits for it. */
  'slow',
  /** It is done, and something on the way back says that it cannot tell. */
  'bad_gateway',
] as const;
export type RequestFault = (typeof requestFaults)[number];

/** What can happen to one question. */
export const askFaults = [
  'question_lost',
  'answer_lost',
  'unavailable',
  /** An old copy answers: no record. */
  'lagging_read',
] as const;
export type AskFault = (typeof askFaults)[number];

export const strikeKinds = [
  'kill_worker',
  'freeze_worker',
  'kill_receiver',
  'kill_gateway',
] as const;
export type StrikeKind = (typeof strikeKinds)[number];

interface ToolRow {
  /** As its contract has it; the tests compare. */
  readonly level: 'L0' | 'L1' | 'L2' | 'L3';
  readonly weight: number;
  /** Who, while it is unknown, comes to an end without a person, and who can be asked at all. */
  readonly open: 'settles' | 'asked' | 'stays';
  /** Faults that would break what this receiver promises, or that no promise covers. */
  readonly never: readonly (RequestFault | AskFault)[];
}

/** Beyond a bounded delay nothing may arrive where the contract says so. */
const unbounded = ['past_the_inquiry', 'at_the_end', 'again_at_the_end'] as const;
/** A network that delivers twice to one who knows no keys makes two effects that nobody can see. */
const twice = ['delivered_twice', 'again_at_the_end'] as const;

export const toolRows = {
  /** Closed by token, fenced, keyed. */
  closing_add: { level: 'L3', weight: 4, open: 'settles', never: ['lagging_read'] },
  /** The same receiver; never repeated. */
  never_add: { level: 'L3', weight: 3, open: 'settles', never: ['lagging_read'] },
  /** Keyed, closed by burning the key. */
  burning_add: { level: 'L2', weight: 2, open: 'settles', never: ['lagging_read'] },
  /** Keyed, answers what it knows. */
  asked_add: { level: 'L2', weight: 3, open: 'asked', never: ['lagging_read'] },
  /** Keyed, and nobody to ask. */
  mute_credit: { level: 'L2', weight: 3, open: 'stays', never: [] },
  /** Asked about a request, and what it says may be old; sent again it would be another one. */
  lagging_add: { level: 'L1', weight: 3, open: 'asked', never: [] },
  /** The same, and what it says is new; after a stated time nothing can arrive any more. */
  settling_add: { level: 'L1', weight: 2, open: 'settles', never: [...unbounded, 'lagging_read'] },
  /** A gateway without keys, questions or memory. */
  dumb_notice: { level: 'L0', weight: 3, open: 'stays', never: twice },
} as const satisfies Record<string, ToolRow>;
export type ClaimTool = keyof typeof toolRows;
export const toolNames = Object.keys(toolRows) as readonly ClaimTool[];

export interface Operation {
  /** Its action id; the effect itself holds it, too. */
  readonly id: string;
  readonly runId: string;
  readonly tool: ClaimTool;
  /** Of its first request, of its second, … ; null, and beyond the list: nothing happens. */
  readonly requests: readonly (RequestFault | null)[];
  readonly asks: readonly (AskFault | null)[];
}

export interface Strike {
  readonly kind: StrikeKind;
  /** When the first request of this operation is on its way. */
  readonly at: string;
  /** Which of the workers. */
  readonly victim: number;
  readonly frozenMs: number;
}

export interface Play {
  readonly ops: readonly Operation[];
  readonly runIds: readonly string[];
  readonly strikes: readonly Strike[];
}

export interface PlaySize {
  readonly seed: number;
  readonly ops: number;
  readonly runs: number;
  /** Begins every run id. */
  readonly prefix: string;
}

export const WORKERS = 3;
const REQUESTS = 5;
const ASKS = 3;
/** How likely something happens to a request, the first and the later ones, and to a question. */
const STRUCK_FIRST = 0.5;
const STRUCK_AGAIN = 0.3;
const STRUCK_ASK = 0.3;
/** Per operation; each kind at least once. */
const strikeRates: Record<StrikeKind, number> = {
  kill_worker: 0.02,
  freeze_worker: 0.02,
  kill_receiver: 0.02,
  kill_gateway: 0.01,
};
/** The lease of an attempt lies between: some wake before it has ended, some after. */
const FROZEN_MS = { least: 1_500, most: 5_000 };

export function playFrom({ seed, ops: count, runs, prefix }: PlaySize): Play {
  const random = randomFrom(seed);
  const runIds = Array.from({ length: runs }, (_, index) => `${prefix}-${index + 1}`);
  const ops = Array.from({ length: count }, (_, index): Operation => {
    const runId = runIds[index % runs] ?? prefix;
    const tool = weighted(random);
    return {
      id: actionIdOf(runId, callPosition(Math.floor(index / runs) + 1, 1)),
      ...{ runId, tool },
      ...faultsOf(tool, random),
    };
  });
  const strikes = strikeKinds.flatMap((kind) =>
    Array.from({ length: Math.max(1, Math.round(strikeRates[kind] * count)) }, (): Strike => {
      const { least, most } = FROZEN_MS;
      return {
        kind,
        at: ops[Math.floor(random() * count)]?.id ?? '',
        victim: Math.floor(random() * WORKERS),
        frozenMs: Math.round(least + random() * (most - least)),
      };
    }),
  );
  return { ops, runIds, strikes };
}

/** For tools that lie: what has to happen for each of them to say something that is not true. */
export function lyingPlay(prefix: string): Play {
  const op = (n: number, tool: ClaimTool, fault: RequestFault | null): Operation => {
    const runId = `${prefix}-${n}`;
    return { id: actionIdOf(runId, 't1.c1'), runId, tool, requests: [fault], asks: [] };
  };
  const ops = [
    op(1, 'closing_add', 'drop_reply'),
    op(2, 'never_add', 'past_the_inquiry'),
    op(3, 'asked_add', 'drop_reply'),
  ];
  return { ops, runIds: ops.map(({ runId }) => runId), strikes: [] };
}

function faultsOf(tool: ClaimTool, random: () => number): Pick<Operation, 'requests' | 'asks'> {
  const { never }: ToolRow = toolRows[tool];
  const requests = requestFaults.filter((fault) => !never.includes(fault));
  const asks = askFaults.filter((fault) => !never.includes(fault));
  return {
    requests: Array.from({ length: REQUESTS }, (_, index) =>
      drawn(requests, index === 0 ? STRUCK_FIRST : STRUCK_AGAIN, random),
    ),
    asks: Array.from({ length: ASKS }, () => drawn(asks, STRUCK_ASK, random)),
  };
}

function drawn<T>(kinds: readonly T[], likely: number, random: () => number): T | null {
  const [strikes, which] = [random() < likely, random()];
  return strikes ? (kinds[Math.floor(which * kinds.length)] ?? null) : null;
}

function weighted(random: () => number): ClaimTool {
  const lots = toolNames.flatMap((name) =>
    Array.from({ length: toolRows[name].weight }, () => name),
  );
  return lots[Math.floor(random() * lots.length)] ?? 'dumb_notice';
}
