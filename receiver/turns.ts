// Transactions of this process on one file: one after another, in the order they came.

type Done = () => void;

/** Waits for its turn; null: it did not come in time. Call what it gives when it is over. */
export type TakeTurn = (waitMs: number) => Promise<Done | null>;

/** The last turn of each file of this process: a name and a promise, kept for ever. */
const lastTurns = new Map<string, Promise<void>>();

export function sharedTurns(file: string): TakeTurn {
  return async (waitMs) => {
    const before = lastTurns.get(file) ?? Promise.resolve();
    let done: Done = () => undefined;
    const mine = new Promise<void>((resolve) => {
      done = resolve;
    });
    lastTurns.set(
      file,
      before.then(() => mine),
    );
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
