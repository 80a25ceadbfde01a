// Losing a key on purpose, for the fault wrapper alone: a second connection, behind the receiver's
// back.

import { openStore } from './store.ts';

export interface Forgetting {
  /** Throws when the store is busy or broken: a fault that did not happen must be seen. */
  forget(operation: string, key: string): void;
  stop(): void;
}

export function openForgetting(path: string, busyTimeoutMs: number): Forgetting {
  const store = openStore({ path, busyTimeoutMs });
  return {
    forget(operation, key) {
      const gone = store.immediate(() => {
        store.run('DELETE FROM operation WHERE operation = ? AND key = ?', operation, key);
        store.run('DELETE FROM closing WHERE operation = ? AND key = ?', operation, key);
      });
      if (gone.kind !== 'committed') throw new Error(`key ${key} was not forgotten: ${gone.kind}`);
    },
    stop: () => store.close(),
  };
}
