// The gate's verdicts, one mutant each. Where a rule of the ledger stands behind a verdict, that is
// what speaks.

import type { Guard } from './mutant.ts';

const file = 'core/gate-table.ts';
const authority = 'core/gate-authority.ts';
const test = 'test/core/gate.test.ts';

export const gateGuards: readonly Guard[] = [
  {
    guard: 'gate',
    file: 'core/gate.ts',
    test,
    patches: [
      {
        name: 'gate-refuses-nothing',
        from: "if (verdict === 'entered') return enter(each);",
        to: "if (verdict !== 'ledger_mismatch') return enter(each);",
        red: 'action_in_doubt when an open attempt leaves closed',
      },
      {
        name: 'gate-writes-no-intent',
        from: "facts: [...refusals.facts, { source: 'execution', body }],",
        to: 'facts: refusals.facts,',
        test: 'test/activities/perform-action.test.ts',
        red: 'R-050 R-023 intent before the call, result after it, at its allocated id',
      },
    ],
  },
  {
    guard: 'gate',
    file,
    test,
    patches: [
      {
        name: 'gate-disputed',
        from: 'says(disputeStops(each), ',
        to: 'says(false, ',
        red: 'disputed when the action has two contradicting outcomes leaves closed',
      },
      {
        name: 'gate-already-final',
        from: 'action?.final != null && (ask',
        to: 'false && (ask',
        red: 'already_final when executed leaves closed',
        says: 'the action is final',
      },
      {
        name: 'gate-final-over-permit',
        from: 'action?.final != null && (ask',
        to: 'action?.final != null && action.permits.length === 0 && (ask',
        test: 'test/core/gate-entry.test.ts',
        red: 'R-110 executed late, a permit is void',
      },
      {
        name: 'gate-attempt-closed',
        from: "view.gateRow?.kind === 'closed',",
        to: 'false,',
        test: 'test/core/gate-entry.test.ts',
        red: 'R-006 an attempt that was closed can never enter, whatever holds later',
        says: 'two gate rows',
      },
      {
        name: 'gate-run-not-open',
        from: "says(view.run.opened === null, 'no run_opened in the ledger'),\n  claim_stale:",
        to: "says(false, ''),\n  claim_stale:",
        red: 'run_not_open when no run leaves nothing',
      },
      {
        name: 'gate-claim-facts-only',
        from: "view.run.opened?.claim.scope === 'facts'",
        to: 'false',
        red:
          'claim_facts_only when a takeover with an open attempt of an older epoch leaves ' +
          'nothing',
        says: 'the claim covers facts only',
      },
      {
        name: 'gate-run-ended',
        from: "says(view.run.ended !== null, 'the run has ended')",
        to: "says(false, '')",
        red: 'run_ended when the run has ended leaves nothing',
        says: 'the run has ended',
      },
      {
        name: 'gate-retention-expired',
        from: 'view.now >= resendUntil,',
        to: 'false,',
        red:
          'retention_expired when a keyed resend inside the margin of the key’s retention ' +
          'leaves closed',
      },
      {
        name: 'gate-clock-stepped-back',
        from: "if (view.clockSteppedBack) return 'the clock",
        to: "if (false) return 'the clock",
        red: 'retention_expired when ledger time stepped back leaves closed',
      },
      {
        name: 'gate-action-in-doubt',
        from: 'says(!hasPermit && doubtBlocks(ask, action),',
        to: 'says(false,',
        red: 'action_in_doubt when an open attempt leaves closed',
      },
      {
        name: 'gate-accepted-goes-on',
        from: 'action.attempts.some((each) => isOngoing(each) && !goesOnBy(ask, each))',
        to: 'false',
        red: 'action_in_doubt when the receiver accepted it, even with a key leaves closed',
      },
      {
        name: 'gate-key-without-retention',
        from: "if (replay === 'keyed') return attempts[0]?.entry.resendUntil !== null;",
        to: "if (replay === 'keyed') return attempts.length > 0;",
        test: 'test/core/gate-entry.test.ts',
        red: 'action_in_doubt: R-026 K-031 a key without retention, a minute later',
      },
      {
        name: 'gate-not-current',
        from: "attempt_not_current: ({ ask }) => (ask.barrier.kind === 'not_current' ?",
        to: 'attempt_not_current: ({ ask }) => (false ?',
        red: 'attempt_not_current when the barrier says paused leaves closed',
      },
      {
        name: 'gate-authority-unavailable',
        from: "if (barrier.kind !== 'current') return barrier.why;",
        to: "if (barrier.kind !== 'current') return null;",
        red: 'authority_unavailable when the barrier could not tell leaves closed',
      },
      {
        name: 'gate-revoked',
        file: authority,
        from: 'says(view.run.revoked || view.run.canceled,',
        to: 'says(view.run.canceled,',
        red: 'revoked when revoked leaves closed',
        // A revocation withdraws the grants, too: the next row refuses with its own word.
        says: "'not_granted' to be 'revoked'",
      },
      {
        name: 'gate-canceled',
        file: authority,
        from: 'says(view.run.revoked || view.run.canceled,',
        to: 'says(view.run.revoked,',
        red: 'revoked when canceled leaves closed',
        says: 'the run is revoked or canceled',
      },
      {
        name: 'gate-authority-stale',
        file: authority,
        from: "authority_stale: (each) => staleRevision(each, 'auth'),",
        to: 'authority_stale: () => null,',
        red: 'authority_stale when decided under another revision leaves closed',
        says: 'decided under another authority revision',
      },
      {
        name: 'gate-twin-unknown',
        from: "each.state === 'in_doubt' &&",
        to: 'false &&',
        red: 'twin_unknown when another action with the same intent is in doubt leaves closed',
      },
      {
        name: 'gate-binding-changed',
        from: 'digest === ask.binding.digest',
        to: 'digest !== null',
        red: 'binding_changed when the tool is not the one pinned leaves closed',
      },
    ],
  },
  {
    guard: 'attempt uniqueness',
    file,
    test,
    patches: [
      {
        name: 'attempt-enters-twice',
        from: "says(view.gateRow?.kind === 'entered', 'another delivery entered')",
        to: "says(false, '')",
        red: 'attempt_reused when another delivery of the attempt leaves nothing',
      },
    ],
  },
  {
    guard: 'entry token',
    file,
    test,
    patches: [
      {
        name: 'token-not-compared',
        from: "view.gateRow?.kind === 'entered' && view.gateRow.entryToken === ask.entryToken",
        to: "view.gateRow?.kind === 'entered'",
        red: 'attempt_reused when another delivery of the attempt leaves nothing',
      },
      {
        name: 'token-lost-commit-reply',
        from: "view.gateRow?.kind === 'entered' && view.gateRow.entryToken === ask.entryToken",
        to: 'false',
        red: 'entered_again when the same delivery asks after a lost COMMIT reply leaves nothing',
      },
    ],
  },
  {
    guard: 'digest',
    file,
    test,
    patches: [
      {
        name: 'digest-of-payload',
        from: 'entry.payload.digest === ask.payload.digest',
        to: 'entry.payload.digest !== null',
        red: 'payload_conflict when an entered attempt has another payload leaves closed',
      },
    ],
  },
  {
    guard: 'barrier age',
    file,
    test,
    patches: [
      {
        name: 'age-at-the-gate',
        from: 'barrier.ageMs > limits.barrierAgeMs,',
        to: 'false,',
        red: 'authority_unavailable when the barrier is too old leaves closed',
      },
    ],
  },
  {
    guard: 'epoch compare-and-set',
    file,
    test,
    patches: [
      {
        name: 'epoch-at-the-gate',
        from: 'claim_stale: ({ ask, view }) => claimStale(ask.epoch, view),',
        to: 'claim_stale: () => null,',
        red: 'claim_stale when another epoch leaves nothing',
        says: 'the epoch is not the claim’s',
      },
    ],
  },
  {
    guard: 'incarnation',
    file,
    test,
    patches: [
      {
        name: 'pin-at-the-gate',
        from: 'pinProblem(ask.pin, view) ?? restoredProblem(view),',
        to: 'restoredProblem(view),',
        red: 'ledger_mismatch when another incarnation leaves nothing',
      },
      {
        name: 'restored-at-the-gate',
        from: 'pinProblem(ask.pin, view) ?? restoredProblem(view),',
        to: 'pinProblem(ask.pin, view),',
        red: 'ledger_mismatch when the ledger was restored since it opened the run leaves nothing',
      },
      {
        name: 'restored-and-taken-over',
        file: 'core/open-run.ts',
        test: 'test/core/open-run.test.ts',
        from: 'return mayLack(view) || (',
        to: 'return (',
        red: 'R-006 nobody takes over a run that a restored ledger does not know',
      },
      {
        name: 'taken-over-by-a-ticket-unknown-here',
        file: 'core/open-run.ts',
        test: 'test/core/open-run.test.ts',
        from: ' && !ticketHolds(run, ticket));',
        to: ' && false);',
        red: 'R-006 R-101 nobody takes over a run by a ticket that its ledger does not know',
      },
    ],
  },
];
