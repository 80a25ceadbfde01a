// Transactions of one store: one after another, in the order they came.

type Done = () => void;

/** Waits for its turn; null: it did not come in time. Call what it gives when it is over. */
export type TakeTurn = () => Promise<Done | null>;

export function turns(waitMs: number): TakeTurn {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    let done: Done = () => undefined;
    const mine = new Promise<void>((resolve) => {
      // Not at once: a long queue would keep the event loop, and other processes, out.
      done = () => void setImmediate(resolve);
    });
    last = before.then(() => mine);
    if (await came(before, waitMs)) return done;
    done(); // whoever stands behind does not wait for us
    return null;
  };
}

async function came(turn: Promise<void>, waitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), waitMs);
  });
  try {
    return await Promise.race([turn.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
