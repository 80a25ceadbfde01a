// What commands of people do, and what waits for them.

import type { Guard } from './mutant.ts';

const waitingTest = 'test/core/waiting.test.ts';
const listed = 'what waits for a person is what is listed';

export const commandGuards: readonly Guard[] = [
  {
    guard: 'what waits for a person',
    file: 'core/fold.ts',
    test: waitingTest,
    patches: [
      {
        name: 'waiting-after-a-top-up',
        from: 'return added !== undefined || revisions.goal',
        to: 'return revisions.goal',
        red: `R-136 topped up: ${listed}`,
      },
      {
        name: 'waiting-after-entry',
        from: 'exhausted: without(run.exhausted, body.actionId),',
        to: 'exhausted: run.exhausted,',
        red: `R-136 entered, since another one cost nothing: ${listed}`,
      },
      {
        name: 'waiting-in-a-stopped-run',
        file: 'core/waiting.ts',
        from: 'run.ended !== null || run.revoked || run.canceled',
        to: 'run.ended !== null',
        red: `R-136 canceled: ${listed}`,
      },
    ],
  },
  {
    guard: 'commands that were pasted unread',
    file: 'core/paste.ts',
    test: 'test/core/paste.test.ts',
    patches: [
      {
        name: 'paste-open-id',
        from: 'command.id.endsWith(FILL_IN) || ',
        to: '',
        red: 'R-134 a top-up whose id is left open',
      },
    ],
  },
  {
    guard: 'what the ledger refuses is not sent',
    file: 'client/authority.ts',
    test: 'test/client/authority.server.test.ts',
    patches: [
      {
        name: 'command-refused-and-sent',
        from: "if (reply.what !== 'applied' && reply.what !== 'duplicate')",
        to: 'if (false)',
        red: 'R-136 what the budget does not let in is listed until it is topped up',
      },
    ],
  },
];
