// Losing a key on purpose, for the fault wrapper alone: a second connection, behind the receiver's
// back.

import { receiverLimits } from './limits.ts';
import { openStore, type StorePlace } from './place.ts';

export interface Forgetting {
  /** Rejects when the store is busy or broken: a fault that did not happen must be seen. */
  forget(operation: string, key: string): Promise<void>;
  stop(): Promise<void>;
}

export async function openForgetting(place: StorePlace): Promise<Forgetting> {
  const { busyTimeoutMs, transactionMs } = receiverLimits;
  const store = await openStore(place, { busyTimeoutMs, transactionMs, tables: () => [] });
  return {
    async forget(operation, key) {
      const gone = await store.transaction((tx) =>
        tx.run('DELETE FROM operation WHERE operation = ? AND key = ?', operation, key),
      );
      if (gone.kind !== 'committed') throw new Error(`key ${key} was not forgotten: ${gone.kind}`);
    },
    stop: () => store.close(),
  };
}
