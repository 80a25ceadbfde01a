// What `agentRun` and `holdfast()` share around their bodies: handlers, opening, end.

import { CancellationScope, condition, patched, setCurrentDetails } from '@temporalio/workflow';
import type { RunResult } from '../core/outcome.ts';
import { installHandlers } from './commands.ts';
import { runDetails } from './details.ts';
import { type Ending, endSession } from './ending.ts';
import { type OpenCall, openSession } from './opening.ts';
import { patches } from './patches.ts';
import { runAttributes } from './search-attributes.ts';
import { allHandled, newSession, type Session, type SessionOptions } from './session.ts';

/** Before anything else in a workflow: signals that came before it are handled then. */
export function beginSession(options: SessionOptions): Session {
  const session = newSession(options);
  const upsert = runAttributes(session);
  session.show = () => {
    upsert();
    setCurrentDetails(runDetails(session));
  };
  installHandlers(session);
  session.workOff(options.carried ?? []);
  return session;
}

/** A run that has ended answers its recorded result, and `body` is not run. */
export function runSession(
  session: Session,
  open: OpenCall,
  body: () => Promise<Ending>,
): Promise<RunResult> {
  return CancellationScope.nonCancellable(async () => {
    try {
      const opening = await openSession(session, open);
      if (opening.kind === 'ended') {
        session.result = opening.result;
        return opening.result;
      }
      for (;;) {
        const result = await endSession(session, open, await body());
        if (result !== 'goal_stale') return result;
      }
    } finally {
      await handlersAnswered(session);
    }
  });
}

/** However it ends, what was sent before is recorded, and its sender is answered. */
async function handlersAnswered(session: Session): Promise<void> {
  if (!allHandled(session) && patched(patches.endAfterHandlers))
    await condition(() => allHandled(session));
}
