// What an adapter's author gives: his tool, the real endpoint, and a count made at the endpoint.

import type { Json } from '../../core/digest.ts';
import type { Principal } from '../../core/fact-fields.ts';
import type { AnyTool } from '../registry.ts';
import type { PassingRequest } from './wire.ts';

/** One request as the receiver may have it in its books. */
export interface EffectOf {
  readonly receiverKey: string;
  readonly input: Json;
  readonly principal: Principal;
}

export interface ContractSubject {
  /**
   * The tool as it will be registered, with another address: all its requests have to go there.
   * `baseUrls` has one address for each endpoint, in their order; `baseUrl` is the first.
   */
  adapter(baseUrl: string, baseUrls: readonly string[]): AnyTool;
  /** Address of the real endpoint, or of each where the tool calls several. */
  readonly endpoint: string | readonly string[];
  /** Inputs that the receiver takes and that nobody has used; `n` is another one for each call. */
  input(n: number): Json;
  /**
   * How many effects there are, counted where they happen and not in any answer; by the key or by
   * the input, as the receiver's books allow. May reject: the suite then ends with that error.
   */
  effects(of: EffectOf): Promise<number>;
  /** How long after its answer an effect may still show in `effects`, ms. Default 0. */
  readonly effectDelayMs?: number;
  /** Which requests may have an effect. Default: every method but GET, HEAD and OPTIONS. */
  isEffect?(request: PassingRequest): boolean;
  /** Two users whose keys must not meet. One alone: the scope stays unchecked. */
  readonly principals?: readonly [Principal, Principal] | readonly [Principal];
  /**
   * Kills the endpoint (SIGKILL, not a graceful stop) and starts it on the same store. Resolves
   * when it takes requests; with its new address where it has moved.
   */
  restart?(): Promise<string | readonly string[] | undefined>;
  /** How many of the kills hit a request at work; each is one `restart`. Default 6. */
  readonly kills?: number;
  /** Lets time pass for the receiver, e.g. by its clock; for keys of a short retention, too. */
  passTime?(ms: number): Promise<void>;
  /** Inputs whose execution takes some 100 ms, so that it can be asked about meanwhile. */
  slowInput?(n: number): Json;
  /** One call of the adapter that takes longer counts as "no answer", ms. Default 30 s. */
  readonly patienceMs?: number;
}

/** The set-up is wrong, not the endpoint: there is nothing to report. */
export class SubjectError extends Error {
  override readonly name = 'SubjectError';
}
