// The chain of one run's facts: each fact carries the digest of the previous one's exact bytes, and
// the head (count, hash) is kept elsewhere. A chain shows that bytes are the ones written; it shows
// neither truth nor authority, and whoever can rewrite facts and head together leaves no trace.

import * as z from 'zod';
import { canonicalJson, type Digest, digestOf, digestOfBytes } from './digest.ts';
import {
  FACT_SCHEMA,
  type Fact,
  type FactKind,
  factBodySchema,
  factSchema,
  type Head,
  type NewFact,
} from './facts.ts';

/** What the first fact's `prev` is: binds the run id and the format. */
export function genesisHash(runId: string): Digest {
  return digestOf({ schema: FACT_SCHEMA, runId });
}

export function genesisHead(runId: string): Head {
  return { count: 0, hash: genesisHash(runId) };
}

export interface SealedFact {
  readonly fact: Fact;
  /** What is stored and hashed, byte for byte. */
  readonly text: string;
  readonly head: Head;
}

export interface Seal {
  readonly runId: string;
  readonly head: Head;
  /** Ledger time, ms. */
  readonly at: number;
  readonly fact: NewFact;
}

/** Throws FactUnreadableError when the fact has not the form of its kind. */
export function sealFact({ runId, head, at, fact }: Seal): SealedFact {
  const sealed: Fact = {
    schema: FACT_SCHEMA,
    runId,
    seq: head.count + 1,
    at,
    source: fact.source,
    body: fact.body,
    prev: head.hash,
  };
  const checked = factSchema.safeParse(sealed);
  if (!checked.success) throw malformed(`new ${fact.body.kind} fact`, checked.error);
  const text = canonicalJson(sealed);
  return { fact: sealed, text, head: { count: sealed.seq, hash: digestOfText(text) } };
}

export type FactFault = 'unreadable' | 'unknown_schema' | 'unknown_kind';

export class FactUnreadableError extends Error {
  override readonly name = 'FactUnreadableError';
  readonly fault: FactFault;
  constructor(fault: FactFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

const kinds: ReadonlySet<string> = new Set<FactKind>(
  factBodySchema.options.map((option) => option.shape.kind.value),
);
const schemaField = z.looseObject({ schema: z.string() });
const kindField = z.looseObject({ body: z.looseObject({ kind: z.string() }) });

/**
 * Writers are strict, readers are not: fields that a later version added are kept, so that
 * the canonical text of what is returned is `text` again. The schemas transform nothing.
 * Throws FactUnreadableError.
 */
export function readFact(text: string): Fact {
  const fact = interpret(text);
  if (fact instanceof FactUnreadableError) throw fact;
  return fact;
}

function interpret(text: string): Fact | FactUnreadableError {
  const value = parseJson(text);
  if (value instanceof FactUnreadableError) return value;
  const schema = schemaField.safeParse(value).data?.schema;
  if (schema !== undefined && schema !== FACT_SCHEMA)
    return new FactUnreadableError(
      'unknown_schema',
      `it has the schema "${schema}" and this version reads "${FACT_SCHEMA}"; upgrade the reader`,
    );
  const kind = kindField.safeParse(value).data?.body.kind;
  if (kind !== undefined && !kinds.has(kind))
    return new FactUnreadableError(
      'unknown_kind',
      `it has the kind "${kind}", which this version does not know; upgrade the reader`,
    );
  const checked = factSchema.safeParse(value);
  if (!checked.success && checked.error.issues.some((issue) => issue.code !== 'unrecognized_keys'))
    return malformed('it', checked.error);
  return value as Fact;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return new FactUnreadableError('unreadable', `it is no JSON: ${String(error)}`);
  }
}

function malformed(what: string, error: z.ZodError): FactUnreadableError {
  const where = error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  return new FactUnreadableError('unreadable', `${what} is malformed: ${where}`);
}

export const chainFaults = [
  'unreadable',
  'unknown_schema',
  'unknown_kind',
  'other_run',
  'duplicated',
  'conflicting',
  'reordered',
  'gap',
  'edited',
  'tail_dropped',
  'beyond_head',
] as const;
export type ChainFault = (typeof chainFaults)[number];

export interface ChainProblem {
  readonly fault: ChainFault;
  /** Number of the fact that is damaged or missing. */
  readonly seq: number;
  readonly why: string;
}

export interface ChainText {
  readonly runId: string;
  /** Facts after `from`, in the order they were found. */
  readonly texts: readonly string[];
  /** Trusted state to go on from; the run's beginning when left out. */
  readonly from?: Head;
  /** The head kept apart; null only where there is none to compare with. */
  readonly head: Head | null;
}

export type ChainReading =
  | { readonly kind: 'whole'; readonly facts: readonly Fact[]; readonly head: Head }
  | { readonly kind: 'broken'; readonly problem: ChainProblem };

/** Reads facts and checks numbers, links, run and head; the first fault ends it. */
export function readChain({ runId, texts, from, head }: ChainText): ChainReading {
  const facts: Fact[] = [];
  let end = from ?? genesisHead(runId);
  for (const [index, text] of texts.entries()) {
    const fact = interpret(text);
    if (fact instanceof FactUnreadableError)
      return broken({ fault: fact.fault, seq: end.count + 1, why: fact.message });
    const problem = linkProblem({ runId, fact, end, index, texts });
    if (problem !== null) return broken(problem);
    facts.push(fact);
    end = { count: fact.seq, hash: digestOfText(text) };
  }
  const problem = head === null ? null : headProblem(end, head);
  return problem === null ? { kind: 'whole', facts, head: end } : broken(problem);
}

function broken(problem: ChainProblem): ChainReading {
  return { kind: 'broken', problem };
}

/** Null when the chain is whole. */
export function chainProblem(chain: ChainText): ChainProblem | null {
  const reading = readChain(chain);
  return reading.kind === 'broken' ? reading.problem : null;
}

interface Link {
  readonly runId: string;
  readonly fact: Fact;
  readonly end: Head;
  readonly index: number;
  readonly texts: readonly string[];
}

function linkProblem({ runId, fact, end, index, texts }: Link): ChainProblem | null {
  const seq = end.count + 1;
  if (fact.runId !== runId)
    return { fault: 'other_run', seq, why: `it belongs to run ${fact.runId}` };
  if (fact.seq < seq) {
    const other = texts.slice(0, index).find((text) => seqOf(text) === fact.seq);
    if (other !== undefined && other !== texts[index])
      return { fault: 'conflicting', seq: fact.seq, why: 'two different facts have this number' };
    return { fault: 'duplicated', seq: fact.seq, why: `it is there again after ${end.count}` };
  }
  if (fact.seq > seq)
    return texts.slice(index + 1).some((text) => seqOf(text) === seq)
      ? { fault: 'reordered', seq, why: `it stands after ${fact.seq}` }
      : { fault: 'gap', seq, why: `it is missing; ${fact.seq} follows ${end.count}` };
  if (fact.prev === end.hash) return null;
  return end.count === 0
    ? { fault: 'edited', seq, why: 'it does not begin with the digest of its run id' }
    : { fault: 'edited', seq: end.count, why: `its bytes are not those that ${seq} was built on` };
}

function headProblem(end: Head, head: Head): ChainProblem | null {
  if (end.count < head.count)
    return {
      fault: 'tail_dropped',
      seq: end.count + 1,
      why: `the head counts ${head.count} facts and ${end.count} are there`,
    };
  if (end.count > head.count)
    return {
      fault: 'beyond_head',
      seq: head.count + 1,
      why: `the head counts ${head.count} facts and ${end.count} are there`,
    };
  return end.hash === head.hash
    ? null
    : { fault: 'edited', seq: end.count, why: 'its bytes are not those the head was taken of' };
}

function seqOf(text: string): number | null {
  const fact = interpret(text);
  return fact instanceof FactUnreadableError ? null : fact.seq;
}

function digestOfText(text: string): Digest {
  return digestOfBytes(new TextEncoder().encode(text));
}
