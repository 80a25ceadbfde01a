// What holds a run together: which ledger and epoch it is in, and what its people's commands do.

import type { Guard } from './mutant.ts';

const openTest = 'test/core/open-run.test.ts';
const rulesTest = 'test/core/fact-rules.test.ts';
const faultsOfSqlite = 'test/ledger/sqlite-faults.test.ts';

export const runGuards: readonly Guard[] = [
  {
    guard: 'epoch compare-and-set',
    file: 'core/open-run.ts',
    test: openTest,
    patches: [
      {
        name: 'epoch-attach-to-any',
        from: 'if (run.opened.claim.firstExecutionRunId !== ask.firstExecutionRunId)',
        to: 'if (false)',
        red: 'answers needs_resume and writes nothing: another execution without a ticket',
      },
      {
        name: 'epoch-ticket-not-needed',
        from: "if (!ticketHolds(run, ask.ticket)) return { reply: 'needs_resume', facts: [] };",
        to: '',
        red:
          'answers needs_resume and writes nothing: another execution with a ticket nobody ' +
          'wrote',
        says: 'the epoch does not follow',
      },
      {
        name: 'epoch-ticket-used-again',
        file: 'core/fold.ts',
        from: ': without(run.tickets, body.claim.ticket),',
        to: ': run.tickets,',
        red: 'consumes a ticket that is there, and ignores one that is not',
      },
      {
        name: 'epoch-of-the-ticket',
        file: 'core/authority.ts',
        from: 'run.tickets.get(ticket) === (run.opened?.epoch ?? 0)',
        to: 'run.tickets.has(ticket)',
        red: 'R-099 a ticket from before the first opening takes over nothing that opened since',
      },
      {
        name: 'epoch-does-not-grow',
        from: 'epoch: before.epoch + 1,',
        to: 'epoch: before.epoch,',
        red: 'R-104 of a run with nothing open claims facts, then effects, in the next epoch',
        says: 'the epoch does not follow',
      },
      {
        name: 'epoch-effects-at-once',
        from: 'const bodies = maySeekEffects(run) ?',
        to: 'const bodies = true ?',
        red: 'R-104 claims ["facts"] beside an open attempt',
      },
      {
        name: 'epoch-at-the-end',
        file: 'core/gate-table.ts',
        test: 'test/core/end-run.test.ts',
        from: "['claim_stale', ({ ask, view }) => claimStale(ask.epoch, view)],",
        to: "['claim_stale', () => null],",
        red: 'claim_stale: another epoch',
        says: 'the epoch is not the claim’s',
      },
      {
        name: 'epoch-rule-of-the-ledger',
        file: 'core/fact-rules.ts',
        test: rulesTest,
        from:
          "[run.opened?.epoch === body.sendToken.epoch, 'the epoch is not the claim’s'],\n" +
          '      [run.opened?.claim.scope',
        to: '[run.opened?.claim.scope',
        red: 'R-062 R-063 breaks: the epoch is not the claim’s – another epoch',
      },
    ],
  },
  {
    guard: 'incarnation',
    file: 'core/pin.ts',
    test: 'test/core/pin.test.ts',
    patches: [
      {
        name: 'pin-incarnation',
        from: 'ledger.incarnation === pin.incarnation && ',
        to: '',
        red: 'R-006 a ledger of another incarnation proves nothing, and nothing is written to it',
      },
      {
        name: 'pin-id',
        from: 'ledger.id === pin.id && ',
        to: '',
        red: 'R-006 a ledger of another id proves nothing, and nothing is written to it',
      },
      {
        name: 'pin-head',
        from: ' && pinHolds;',
        to: ';',
        red:
          'R-006 a ledger without the head that was seen proves nothing, and nothing is ' +
          'written to it',
      },
      {
        name: 'pin-of-facts',
        file: 'activities/pinned.ts',
        test: 'test/activities/other-ledger.test.ts',
        from: 'onPinned({ runId, pin }, decide)',
        to: 'onPinned({ runId, pin: null }, decide)',
        red: 'R-006 a doubt writes nothing to another ledger, and proves nothing',
        says: 'it did not fail',
      },
      {
        name: 'pin-bumped-by-restore',
        file: 'ledger/sqlite-ledger.ts',
        test: 'test/ledger/sqlite-open.test.ts',
        from: 'await updateMeta(db, { incarnation: incarnation + 1, writer_boot: null });',
        to: 'await updateMeta(db, { writer_boot: null });',
        red: 'a restored copy gets the next incarnation, and any host may write it',
      },
    ],
  },
  {
    guard: 'digest',
    file: 'ledger/payloads.ts',
    test: faultsOfSqlite,
    patches: [
      {
        name: 'digest-of-stored-bytes',
        from: 'if (found === digest) return row.bytes;',
        to: 'return row.bytes;',
        red: 'R-071 payload bytes of another digest are refused',
      },
      {
        name: 'digest-of-the-chain',
        file: 'core/chain.ts',
        from: 'if (fact.prev === end.hash) return null;',
        to: 'if (fact.prev !== null) return null;',
        red: 'R-071 when a fact is edited it is refused by run and number',
      },
    ],
  },
  {
    guard: 'digest',
    file: 'core/outcome.ts',
    test: 'test/core/finality.test.ts',
    patches: [
      {
        name: 'digest-of-the-outcome',
        from: 'result: content.result,',
        to: '',
        red: 'the digest of an outcome tells action, kind, result, parts and external id apart',
      },
    ],
  },
  {
    guard: 'attempt uniqueness',
    file: 'ledger/migrations.ts',
    test: 'test/ledger/sqlite-conformance.process.test.ts',
    patches: [
      {
        name: 'attempt-has-two-rows',
        from: ".addColumn('attempt_id', 'text', (column) => column.primaryKey().notNull())",
        to: ".addColumn('attempt_id', 'text', (column) => column.notNull())",
        red: 'INV-5 an attempt gets no second gate row, of whatever kind',
      },
      {
        name: 'attempt-rule-of-the-ledger',
        file: 'core/fact-rules.ts',
        test: rulesTest,
        from: "[attemptOf(run, body) === undefined, 'the attempt entered before'],",
        to: '',
        red: 'R-062 R-063 breaks: the attempt entered before – the same attempt',
      },
    ],
  },
  {
    guard: 'in-doubt mark',
    file: 'core/after-attempt.ts',
    test: 'test/core/after-attempt.test.ts',
    patches: [
      {
        name: 'doubt-not-recorded-first',
        from: "case 'overdue':\n      return doubt;",
        to: "case 'overdue':\n      return { kind: 'ask' };",
        red: 'R-004 R-006 overdue',
      },
    ],
  },
  {
    guard: 'tolerant converter',
    file: 'workflows/payload-converter.ts',
    test: 'test/workflows/details.test.ts',
    patches: [
      {
        name: 'converter-throws',
        from: 'return { [UNDECODABLE]: String(error) } as T;',
        to: 'throw error;',
        red: 'broken JSON becomes a marker, never a throw',
        says: 'JSON',
      },
      {
        name: 'converter-not-bundled',
        file: 'workers/workflow-bundle.ts',
        test: 'test/workers/workflow-bundle.server.test.ts',
        from: '    payloadConverterPath,\n    workflowInterceptorModules:',
        to: '    workflowInterceptorModules:',
        red: 'a bundle that names no payload converter has the tolerant one',
      },
    ],
  },
  {
    guard: 'non-retryable list',
    file: 'workflows/activity-options.ts',
    test: 'test/workflows/forgotten-interceptor.server.test.ts',
    patches: [
      {
        name: 'list-not-given',
        from: 'retry: { maximumAttempts: 1, nonRetryableErrorTypes },',
        to: 'retry: { maximumAttempts: 1 },',
        red: 'R-046 without the interceptor an attempt that fails while paused is over',
      },
    ],
  },
  {
    guard: 'revoke',
    file: 'workflows/commands.ts',
    test: 'test/workflows/commands.server.test.ts',
    patches: [
      {
        name: 'revoke-stops-late',
        from: "begin: (session) => stopScheduling(session, 'revoked'),",
        to: '',
        red: 'R-109 a revoke stops scheduling at once, though the ledger does not answer yet',
      },
      {
        name: 'revoke-leaves-attempts-wanted',
        file: 'workflows/session.ts',
        test: 'test/workflows/revoked-attempt.server.test.ts',
        from:
          'session.stop = reason;\n' +
          '  for (const scope of session.scheduled.values()) scope.cancel();',
        to: 'session.stop = reason;',
        red: 'R-109 a revoke only the run has heard of closes the gate of what is scheduled',
      },
    ],
  },
  {
    guard: 'ended question',
    file: 'workflows/unknown.ts',
    test: 'test/faults/buttons-question.server.test.ts',
    patches: [
      {
        name: 'question-adopted-for-ever',
        from: "if (state === 'adopted') return patched(patches.openEndedAgain);",
        to: "if (state === 'adopted') return false;",
        red: 'R-135 R-118 the question that a copy of a run adopted, terminated: open again',
        says: 'unknown.adopted-question.c1 open: not within',
      },
      {
        name: 'question-opened-is-open',
        file: 'workflows/left-open.ts',
        from: 'return asked.has(actionId) || !patched(patches.openEndedAgain);',
        to: 'return true;',
        red: 'R-135 a question ended while the run goes on is open when the run ends',
        says: 'unknown.beside-question.c1 open: not within',
      },
    ],
  },
  {
    guard: 'ledger-first revoke',
    file: 'client/authority.ts',
    test: 'test/client/client.server.test.ts',
    patches: [
      {
        name: 'revoke-signal-first',
        from:
          'const record = await recordFirst(room, runId, given);\n' +
          '  const recordedFirst = record.recorded !== null;\n' +
          '  const told = await tell(room, runId, { given, by, recordedFirst });',
        to:
          'const told = await tell(room, runId, { given, by, recordedFirst: false });\n' +
          '  const record = await recordFirst(room, runId, given);\n' +
          '  const recordedFirst = record.recorded !== null;',
        red: 'R-109 the ledger has the revocation before the signal is sent',
      },
    ],
  },
];
