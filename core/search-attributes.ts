// The search attributes an operator filters and sorts by in the Web UI: names and types as data.
// Once released a name never changes its type: servers refuse that.

export type SearchAttributeType = 'Keyword' | 'Int';

export const searchAttributes = {
  /** One of `searchStates`. */
  HoldfastState: 'Keyword',
  /** Run id: on the run itself and on every question about it. */
  HoldfastRun: 'Keyword',
  /** Action id of the question. */
  HoldfastAction: 'Keyword',
  /** Tool the question is about. */
  HoldfastTool: 'Keyword',
  /** Unknown actions of the run that are not settled. */
  HoldfastUnknowns: 'Int',
  HoldfastAuthRevision: 'Int',
} as const satisfies Record<string, SearchAttributeType>;

export type SearchAttributeName = keyof typeof searchAttributes;

/** Values of `HoldfastState`. "unknown" is never "failed". */
export const searchStates = [
  'running',
  'waiting_human',
  'unknown',
  'stopped',
  'completed',
  'ended_with_unknown',
] as const;

export type SearchState = (typeof searchStates)[number];
