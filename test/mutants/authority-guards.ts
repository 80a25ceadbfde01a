// What people allow and what may be spent, one mutant each.

import type { Guard } from './mutant.ts';

const approvalTest = 'test/core/approval.test.ts';
const budgetTest = 'test/core/budget.test.ts';
const gateTest = 'test/core/gate.test.ts';

export const authorityGuards: readonly Guard[] = [
  {
    guard: 'approval',
    file: 'core/gate-authority.ts',
    test: gateTest,
    patches: [
      {
        name: 'approval-of-anything',
        file: 'core/approval.ts',
        from: 'action?.approvals.findLast((each) => each.bound === bound)',
        to: 'action?.approvals.at(-1)',
        red:
          'approval_mismatch when K-131 other bytes were approved than would be sent leaves ' +
          'closed',
      },
      {
        name: 'approval-bound-to-no-revision',
        file: 'core/approval.ts',
        test: approvalTest,
        from: 'payload, revisions: { goal, auth } })',
        to: 'payload, revisions: { goal: 1, auth: 1 + 0 * (goal + auth) } })',
        red: 'approval_missing: the goal was amended since',
      },
      {
        name: 'approval-denied',
        from: "decision?.decision === 'deny' ?",
        to: 'decision === null ?',
        red: 'approval_denied when a person said no leaves closed',
        says: 'nobody approved exactly this',
      },
      {
        name: 'approval-not-asked-for',
        from: 'approval_missing: approvalMissing,',
        to: 'approval_missing: () => null,',
        red: 'approval_missing when nobody has decided leaves closed',
      },
      {
        name: 'approval-never-expires',
        file: 'core/approval.ts',
        from: 'decision.validUntil === null || now < decision.validUntil',
        to: 'true || now < 0',
        red:
          'approval_missing when K-130 the approval has expired as its tool declared leaves ' +
          'closed',
      },
      {
        name: 'approval-decided-twice',
        file: 'core/authority.ts',
        test: approvalTest,
        from: 'const asks = pendingAsk(run, action, now);',
        to:
          'const asks = action?.refusals.findLast((each) => each.asks !== undefined)?.asks ' +
          '?? pendingAsk(run, action, now);',
        red: 'approve, then deny',
      },
      {
        name: 'approval-rule-of-the-ledger',
        file: 'core/fact-rules.ts',
        test: 'test/core/fact-rules.test.ts',
        from: "[approvalIsThere(action, body), 'nobody approved exactly this'],",
        to: '',
        red: 'R-062 R-063 breaks: nobody approved exactly this – under a denial',
      },
    ],
  },
  {
    guard: 'grants',
    file: 'core/gate-authority.ts',
    test: gateTest,
    patches: [
      {
        name: 'grants-not-compared',
        from: 'if (!grants.includes(needed)) return',
        to: 'if (false) return',
        red: 'not_granted when its purpose is not granted leaves closed',
      },
      {
        name: 'grants-late-results',
        from: "if (grants.includes('accept')) return null;",
        to: 'return null;',
        red:
          'not_granted when it builds on what came late, and accept is not granted leaves ' +
          'closed',
      },
      {
        name: 'grants-left-by-a-revoke',
        file: 'core/authority.ts',
        test: 'test/core/grants.test.ts',
        from: 'grants: keep.filter((kept) => grants === null || grants.includes(kept)),',
        to: '',
        red: 'that keeps ["query"] of ["effect","query"] leaves ["query"]',
      },
    ],
  },
  {
    guard: 'decided versions',
    file: 'core/gate-authority.ts',
    test: gateTest,
    patches: [
      {
        name: 'version-of-the-goal',
        from: "goal_stale: (each) => staleRevision(each, 'goal'),",
        to: 'goal_stale: () => null,',
        red: 'goal_stale when decided for another goal leaves closed',
        says: 'decided under another goal revision',
      },
      {
        name: 'version-of-the-object',
        from: "object_changed: (each) => changedVersion(each, 'object') ??",
        to: 'object_changed: (each) =>',
        red:
          'object_changed when its version is another than the one first decided on leaves ' +
          'closed',
      },
      {
        name: 'version-of-dependencies',
        from: "dependencies_changed: (each) => changedVersion(each, 'dependencies'),",
        to: 'dependencies_changed: () => null,',
        red:
          'dependencies_changed when its version is another than the one first decided on ' +
          'leaves closed',
      },
      {
        name: 'version-of-credentials',
        from: "credentials_changed: (each) => changedVersion(each, 'credentials'),",
        to: 'credentials_changed: () => null,',
        red:
          'credentials_changed when its version is another than the one first decided on ' +
          'leaves closed',
      },
      {
        name: 'version-at-the-end',
        file: 'core/gate-table.ts',
        test: 'test/core/end-run.test.ts',
        from: 'finishes && followed !== view.run.revisions.goal,',
        to: 'false && followed > 0,',
        red: 'goal_stale: R-098 completed under a goal that is not the newest',
      },
    ],
  },
  {
    guard: 'budget',
    file: 'core/budget.ts',
    test: budgetTest,
    patches: [
      {
        name: 'budget-not-summed',
        from: 'use.known + use.held + more <= limit',
        to: 'more <= limit',
        red: 'of parallel attempts those go in whose reserves fit together',
      },
      {
        name: 'budget-unknown-is-nothing',
        from: 'sum.tokens.held += reserve?.tokens ?? 0;',
        to: '',
        red: '0+1 0+100 0+1000 ?1: lost',
      },
      {
        name: 'budget-money-without-a-price',
        from: 'if (bounded && (costsNothing || tokens !== undefined)) return null;',
        to: 'return null;',
        red: 'no price in USD for it, and no cap on tokens: K-121 K-122 money, and no price',
      },
      {
        name: 'budget-unpriced-is-nothing',
        from: 'known.some((cost) => isPriced(cost, currency)) ? 0 : money',
        to: 'money * 0',
        red: '1+0 10+0 0+1000 ?0: known usage without a price holds the money',
      },
      {
        name: 'budget-not-at-the-gate',
        file: 'core/gate-table.ts',
        test: gateTest,
        from: 'budgetProblem(view.run, ask.reserve, view.now),',
        to: 'null,',
        red: 'budget_exhausted when its reserve does not fit leaves closed',
      },
      {
        name: 'budget-begun-anew',
        file: 'core/fold.ts',
        test: budgetTest,
        from: 'budget: run.opened === null ? (body.budget ?? null) : run.budget,',
        to: 'budget: body.budget ?? null,',
        red: 'lets go on what was exhausted after a takeover, too',
      },
    ],
  },
  {
    guard: 'refused on a retry',
    file: 'core/after-attempt.ts',
    test: 'test/core/after-refusal.test.ts',
    patches: [
      {
        name: 'refused-means-not-executed',
        from: 'return context.open === 0\n        ? notExecuted',
        to: 'return true\n        ? notExecuted',
        red: 'approval_denied: not executed only where nothing older is open',
      },
    ],
  },
];
