// What a probe finds of one field of the contract.

import type { Contract } from '../../core/contract.ts';
import type { Bench } from './bench.ts';

/** What there is to promise; a margin is the author's own caution. */
export type ContractField = Exclude<keyof Contract, 'retentionMarginMs' | 'changeable'>;

/** What may be declared after all; every part that is left out is as declared. */
export type Instead = Partial<Contract>;

export type Finding =
  | { readonly kind: 'held'; readonly saw: string }
  | { readonly kind: 'broken'; readonly saw: string; readonly instead: Instead }
  /** Nothing was tried: the declaration is taken on its author's word. */
  | { readonly kind: 'not_checked'; readonly why: string };

export interface Probe {
  readonly field: ContractField;
  /** The rules it is for (A1 to B12, R-nnn). */
  readonly rules: readonly string[];
  /** What is done and what has to follow. */
  readonly name: string;
  /** Why it cannot be tried here, or null. `broken`: fields known to be so by then. */
  missing?(bench: Bench, broken: ReadonlySet<ContractField>): string | null;
  /** May throw SubjectError, or what the author's callbacks threw: that ends the suite. */
  run(bench: Bench, declared: Contract): Promise<Finding>;
}

export function held(saw: string): Finding {
  return { kind: 'held', saw };
}

export function broken(saw: string, instead: Instead): Finding {
  return { kind: 'broken', saw, instead };
}

export function notChecked(why: string): Finding {
  return { kind: 'not_checked', why };
}

export function effects(count: number): string {
  return count === 1 ? '1 effect' : `${count} effects`;
}
