// The other task of the desk, in which people decide: a refund that asks for approval, and a budget
// of model calls that does not reach to the end. The worker is the one of the demo.

import type { GoalStart } from '../../client/start-request.ts';

export const refundTask = {
  goal:
    'Pay the refunds that customers ask for in the support mails, ' +
    'and send one notice to the support lead.',
  principal: { user: 'support-bot', workspace: 'example' },
  /** It takes four: reading, the refunds, the notice, the last words. */
  budget: { requests: 2 },
} as const satisfies GoalStart;
