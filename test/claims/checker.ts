// What was said of each operation against what its receivers have written down. Pure.
//
//   executed      exactly one effect
//   not_executed  none
//   unknown       none or one
//   partial       one: no operation played here has parts
//
// Whatever was said: never two effects, never an operation of which nobody says anything, never an
// effect that belongs to none, and one key per effect.

export type Said = 'executed' | 'not_executed' | 'partial' | 'unknown';

export interface Claim {
  readonly op: string;
  readonly said: Said;
  /** Who says so, e.g. `ledger`; several may speak of one operation. */
  readonly by: string;
}

/** One row of a receiver's own log. */
export interface Effect {
  /** The operation by what the effect itself holds, never by its key. */
  readonly op: string;
  /** Null where the receiver keeps none. */
  readonly key: string | null;
}

export type ViolationKind =
  | 'executed_without_effect'
  | 'executed_more_than_once'
  | 'not_executed_with_effect'
  | 'partial_without_effect'
  | 'more_than_one_effect'
  | 'lost'
  | 'unclaimed_effect'
  | 'two_keys';

export interface Violation {
  readonly kind: ViolationKind;
  readonly op: string;
  readonly text: string;
}

export interface Checked {
  /** Every operation that was asked for. */
  readonly ops: readonly string[];
  readonly claims: readonly Claim[];
  readonly effects: readonly Effect[];
}

/** By what was said: the effects that make it false. In order, first match. */
const lies = {
  executed: [
    ['executed_without_effect', (count) => count === 0],
    ['executed_more_than_once', (count) => count > 1],
  ],
  not_executed: [['not_executed_with_effect', (count) => count > 0]],
  partial: [['partial_without_effect', (count) => count === 0]],
  unknown: [],
} as const satisfies Record<
  Said,
  readonly (readonly [ViolationKind, (count: number) => boolean])[]
>;

export function violationsOf({ ops, claims, effects }: Checked): readonly Violation[] {
  const known = new Set(ops);
  const counts = new Map<string, number>();
  for (const { op } of effects) counts.set(op, (counts.get(op) ?? 0) + 1);
  return [
    ...claims.flatMap((claim) => lieOf(claim, counts.get(claim.op) ?? 0)),
    ...ops.flatMap((op) => lostOf(op, claims)),
    ...[...counts].flatMap(([op, count]) => doubledOf(op, count)),
    ...[...counts].flatMap(([op, count]) => unclaimedOf(op, count, known)),
    ...[...counts.keys()].flatMap((op) => twoKeysOf(op, effects)),
  ];
}

function lieOf({ op, said, by }: Claim, count: number): readonly Violation[] {
  const kind = lies[said].find(([, holds]) => holds(count))?.[0];
  return kind === undefined ? [] : [{ kind, op, text: `${by} says ${said}; effects: ${count}` }];
}

function lostOf(op: string, claims: readonly Claim[]): readonly Violation[] {
  if (claims.some((claim) => claim.op === op)) return [];
  return [{ kind: 'lost', op, text: 'was asked for, and nothing is said of it' }];
}

function doubledOf(op: string, count: number): readonly Violation[] {
  if (count <= 1) return [];
  return [{ kind: 'more_than_one_effect', op, text: `effects: ${count}` }];
}

function unclaimedOf(op: string, count: number, known: ReadonlySet<string>): readonly Violation[] {
  if (known.has(op)) return [];
  return [{ kind: 'unclaimed_effect', op, text: `nobody asked for it; effects: ${count}` }];
}

function twoKeysOf(op: string, effects: readonly Effect[]): readonly Violation[] {
  const keys = new Set(effects.flatMap((effect) => (effect.op === op ? [effect.key] : [])));
  if (keys.size <= 1) return [];
  return [{ kind: 'two_keys', op, text: `under ${[...keys].map(String).sort().join(' and ')}` }];
}
