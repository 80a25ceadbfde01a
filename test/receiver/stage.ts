// Receivers in this process for the rules, on either store, with a clock the test turns.

import { onTestFinished } from 'vitest';
import {
  exampleOperations,
  openReceiver,
  type Receiver,
  type ReceiverSettings,
  type StorePlace,
} from '../../receiver/index.ts';

/** A store that one test has for itself, looked at behind the receivers' backs. */
export interface Place {
  readonly at: StorePlace;
  rows(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Somebody else's transaction stands in everybody's way; what is returned ends it. */
  hold(): Promise<() => Promise<void>>;
}

export interface Opened {
  readonly receiver: Receiver;
  readonly place: Place;
  /** The receiver's clock. */
  readonly time: { now: number };
}

/** Without `place` on a fresh one. Shut down when the test is over. */
export type Open = (
  options?: Partial<ReceiverSettings> & { readonly place?: Place },
) => Promise<Opened>;

export function opener(freshPlace: () => Promise<Place>): Open {
  return async ({ place: given, ...settings } = {}) => {
    const place = given ?? (await freshPlace());
    const time = { now: 1_700_000_000_000 };
    const receiver = await openReceiver({
      ...place.at,
      operations: exampleOperations(),
      clock: () => time.now,
      // Fifty at once on a crowded machine: the longest wait is not what these tests are about.
      busyTimeoutMs: 60_000,
      ...settings,
    });
    onTestFinished(() => receiver.shutdown());
    return { receiver, place, time };
  };
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

/** A promise that the test settles, so that it chooses the order. */
export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
