import { describe, expect, test } from 'vitest';
import { ticketOf } from '../../core/authority.ts';
import { digestOf } from '../../core/digest.ts';
import { factSchema } from '../../core/facts.ts';
import {
  ACTION,
  binding,
  enter,
  open,
  openAsk,
  payloadOf,
  pinOf,
  RUN,
  settle,
} from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  again,
  bodiesAfter,
  change,
  doubt,
  end,
  keyed,
  openAndEnter,
  rebuy,
  resolve,
  safe,
} from '../support/story.ts';

type Tell = (ledger: MemoryLedger) => unknown;
const resumed = { firstExecutionRunId: 'exec-2', ticket: 'ticket-1', owner: 'worker-2' };

function takeover(ledger: MemoryLedger) {
  change(ledger, 'permit', { ticket: 'ticket-1' });
  const count = ledger.facts(RUN).length;
  const reply = open(ledger, resumed);
  return { reply, written: bodiesAfter(ledger, count) };
}

describe('the first opening', () => {
  test('R-075 R-112 writes principal, goal, grants, bindings, scope and ledger', () => {
    const ledger = memoryLedger();
    const grants = ['effect', 'query', 'read'] as const;
    expect(open(ledger, { grants })).toBe('open');
    const ask = openAsk();
    expect(bodiesAfter(ledger, 0)).toEqual([
      {
        kind: 'run_opened',
        claim: {
          owner: 'worker-1',
          scope: 'effects',
          firstExecutionRunId: 'exec-1',
          ticket: null,
          oldExecutor: 'none: no run_opened was there',
        },
        epoch: 1,
        principal: { user: 'ada', workspace: 'w1' },
        goal: { digest: ask.goal.digest, bytes: ask.goal.bytes.length },
        revisions: { goal: 1, auth: 1 },
        grants: ['effect', 'query', 'read'],
        catalog: { digest: ask.catalog.digest, bytes: ask.catalog.bytes.length },
        bindings: [binding],
        scope: { installation: 'test', namespace: 'default' },
        ledger: { id: 'ledger-1', incarnation: 0 },
      },
    ]);
    expect(ledger.payloads.has(ask.goal.digest) && ledger.payloads.has(ask.catalog.digest)).toBe(
      true,
    );
    expect(ledger.facts(RUN)[0]?.source).toBe('history');
  });

  test('consumes a ticket that is there, and ignores one that is not', () => {
    const ledger = memoryLedger();
    change(ledger, 'permit', { ticket: 'ticket-1' });
    open(ledger, { ticket: 'ticket-1' });
    expect(ledger.run(RUN).opened?.claim.ticket).toBe('ticket-1');
    expect(ledger.run(RUN).tickets.size).toBe(0);
    const other = memoryLedger();
    expect(open(other, { ticket: 'ticket-1' })).toBe('open');
    expect(other.run(RUN).opened?.claim.ticket).toBeNull();
  });
});

describe('opening again', () => {
  test.each<[string, string, Tell, (l: MemoryLedger) => Parameters<typeof open>[1]]>([
    ['open', 'R-137 the same execution attaches', () => {}, () => ({})],
    ['open', 'with the head it has seen', () => {}, (l) => ({ pin: pinOf(l) })],
    ['other_goal', 'another goal', () => {}, () => ({ goal: payloadOf({ other: 1 }) })],
    [
      'needs_resume',
      'another execution without a ticket',
      () => {},
      () => ({ firstExecutionRunId: 'exec-2' }),
    ],
    ['needs_resume', 'another execution with a ticket nobody wrote', () => {}, () => resumed],
    ['ended', 'a run that ended', (l) => end(l), () => ({})],
    ['ended', 'a run that ended, by another execution', (l) => end(l), () => resumed],
    [
      'other_goal',
      'R-022 a run that ended, with another goal',
      (l) => end(l),
      () => ({ goal: payloadOf(1) }),
    ],
    [
      'ledger_mismatch',
      'another ledger',
      () => {},
      (l) => ({ pin: { ...pinOf(l), id: 'ledger-2' } }),
    ],
    [
      'ledger_mismatch',
      'another incarnation',
      () => {},
      (l) => ({ pin: { ...pinOf(l), incarnation: 1 } }),
    ],
    [
      'ledger_mismatch',
      'a head that is not in the chain',
      () => {},
      (l) => ({ pin: { ...pinOf(l), head: { count: 1, hash: digestOf('x') } } }),
    ],
    [
      'attempt_not_current',
      'an execution that is not wanted',
      () => {},
      () => ({ barrier: { kind: 'not_current', why: 'reset' } }),
    ],
    [
      'authority_unavailable',
      'a barrier that could not tell',
      () => {},
      () => ({ barrier: { kind: 'unavailable', why: 'x' } }),
    ],
    [
      'authority_unavailable',
      'a barrier that is too old',
      () => {},
      () => ({ barrier: { kind: 'current', ageMs: 2_001 } }),
    ],
  ])('answers %s and writes nothing: %s', (reply, _when, tell, over) => {
    const ledger = memoryLedger();
    open(ledger);
    tell(ledger);
    const count = ledger.facts(RUN).length;
    expect(open(ledger, over(ledger))).toBe(reply);
    expect(ledger.facts(RUN).length).toBe(count);
  });

  test('a barrier at the limit of its age still counts', () => {
    const ledger = memoryLedger();
    expect(open(ledger, { barrier: { kind: 'current', ageMs: 2_000 } })).toBe('open');
  });
});

describe('a takeover', () => {
  test('R-104 of a run with nothing open claims facts, then effects, in the next epoch', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    settle(ledger);
    const { reply, written } = takeover(ledger);
    expect(reply).toBe('open');
    expect(written).toMatchObject([
      { epoch: 2, claim: { scope: 'facts', ticket: 'ticket-1', owner: 'worker-2' } },
      { epoch: 2, claim: { scope: 'effects', firstExecutionRunId: 'exec-2' } },
    ]);
    expect(enter(ledger, { ...again(), actionId: 'r.t2.c1', epoch: 1 }).verdict).toBe(
      'claim_stale',
    );
  });

  test('R-112 keeps principal, goal, grants and catalog, whoever operates it', () => {
    const ledger = memoryLedger();
    open(ledger, { grants: ['effect', 'query', 'read'] });
    change(ledger, 'permit', { ticket: 'ticket-1' });
    const principal = { user: 'mallory', workspace: 'w2' };
    open(ledger, {
      ...resumed,
      principal,
      grants: ['send'],
      catalog: payloadOf([1]),
      bindings: [],
    });
    expect(ledger.run(RUN).opened).toMatchObject({
      principal: { user: 'ada', workspace: 'w1' },
      grants: ['effect', 'query', 'read'],
      bindings: [binding],
    });
  });

  test('R-099 says owner, scope, generation, and what the old executor may still do', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    expect(takeover(ledger).written).toEqual([
      expect.objectContaining({
        epoch: 2,
        claim: {
          owner: 'worker-2',
          scope: 'facts',
          firstExecutionRunId: 'exec-2',
          ticket: 'ticket-1',
          oldExecutor: `enters nothing more; may be at work on 1, recorded as late: ${ACTION}~1`,
        },
      }),
    ]);
    settle(ledger);
    change(ledger, 'permit', { id: 'permit-2', ticket: 'ticket-2' });
    const count = ledger.facts(RUN).length;
    open(ledger, { firstExecutionRunId: 'exec-3', ticket: 'ticket-2' });
    const oldExecutor = 'enters nothing more; nothing of it is open';
    expect(bodiesAfter(ledger, count)[0]).toMatchObject({ epoch: 3, claim: { oldExecutor } });
  });

  test('R-099 a claim that does not say what the old executor may do is no fact', () => {
    const ledger = memoryLedger();
    open(ledger);
    const [fact] = ledger.facts(RUN);
    if (fact?.body.kind !== 'run_opened') throw new Error('not opened');
    expect(factSchema.safeParse(fact).success).toBe(true);
    const { oldExecutor: _, ...claim } = fact.body.claim;
    for (const other of [claim, { ...claim, oldExecutor: '' }])
      expect(factSchema.safeParse({ ...fact, body: { ...fact.body, claim: other } }).success).toBe(
        false,
      );
  });

  test('R-099 of two claims of the same epoch one wins, whichever ticket came first', () => {
    const ledger = memoryLedger();
    open(ledger);
    change(ledger, 'permit', { ticket: 'ticket-1' });
    change(ledger, 'permit', { id: 'permit-2', ticket: 'ticket-2' });
    const claims = [
      { firstExecutionRunId: 'exec-3', ticket: 'ticket-2' },
      { firstExecutionRunId: 'exec-2', ticket: 'ticket-1' },
    ];
    expect(claims.map((claim) => open(ledger, claim))).toEqual(['open', 'needs_resume']);
    expect(ledger.run(RUN).opened).toMatchObject({
      epoch: 2,
      claim: { firstExecutionRunId: 'exec-3' },
    });
  });

  test('R-099 a ticket from before the first opening takes over nothing that opened since', () => {
    const ledger = memoryLedger();
    change(ledger, 'permit', { ticket: 'ticket-1' });
    open(ledger);
    expect(open(ledger, resumed)).toBe('needs_resume');
  });

  test('its ticket is used once', () => {
    const ledger = memoryLedger();
    open(ledger);
    takeover(ledger);
    expect(open(ledger, { ...resumed, firstExecutionRunId: 'exec-3' })).toBe('needs_resume');
  });

  test('takes the revision of a revoke that came before it', () => {
    const ledger = memoryLedger();
    open(ledger);
    change(ledger, 'revoke');
    expect(takeover(ledger).written).toMatchObject([{ revisions: { auth: 2 } }, {}]);
  });

  const waits = ['facts'];
  const goes = ['facts', 'effects'];
  test.each<[string[], string, Tell]>([
    [waits, 'an open attempt', (l) => openAndEnter(l)],
    [waits, 'an open keyed attempt', (l) => openAndEnter(l, keyed)],
    [waits, 'an attempt in doubt', (l) => [openAndEnter(l), doubt(l)]],
    [waits, 'an accepted action', (l) => [openAndEnter(l), settle(l, { outcome: 'accepted' })]],
    [
      waits,
      'one open action beside an independent one',
      (l) => [
        openAndEnter(l, { onUnknown: 'continue' }),
        enter(l, { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~1' }),
      ],
    ],
    [goes, 'a declared independent one', (l) => openAndEnter(l, { onUnknown: 'continue' })],
    [goes, 'an abandoned one', (l) => [openAndEnter(l), doubt(l), resolve(l, { verb: 'abandon' })]],
    [goes, 'a settled one', (l) => [openAndEnter(l), settle(l, { outcome: 'not_sent' })]],
    [goes, 'a read', (l) => openAndEnter(l, safe)],
    [goes, 'a model call', (l) => openAndEnter(l, rebuy)],
  ])('R-104 claims %j beside %s', (scopes, _what, tell) => {
    const ledger = memoryLedger();
    tell(ledger);
    const { written } = takeover(ledger);
    expect(written.map((body) => body.kind === 'run_opened' && body.claim.scope)).toEqual(scopes);
  });

  test('R-094 R-104 effects are claimed under the revision of a revoke that came since', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    takeover(ledger);
    change(ledger, 'revoke');
    settle(ledger);
    const count = ledger.facts(RUN).length;
    expect(open(ledger, resumed)).toBe('open');
    expect(bodiesAfter(ledger, count)).toMatchObject([
      { epoch: 2, revisions: { auth: 2 }, claim: { scope: 'effects' } },
    ]);
    const other = { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~1', epoch: 2 };
    expect(enter(ledger, other).verdict).toBe('revoked');
  });

  test('R-104 effects follow once the old attempt is settled', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    takeover(ledger);
    const other = { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~1', epoch: 2 };
    expect(open(ledger, resumed)).toBe('open');
    expect(enter(ledger, other).verdict).toBe('claim_facts_only');
    settle(ledger);
    const count = ledger.facts(RUN).length;
    expect(open(ledger, resumed)).toBe('open');
    expect(bodiesAfter(ledger, count)).toMatchObject([{ epoch: 2, claim: { scope: 'effects' } }]);
    expect(enter(ledger, other).verdict).toBe('entered');
    expect(ledger.rows.get(`${ACTION}~1`)?.kind).toBe('entered');
  });
});

test('R-006 R-101 nobody takes over a run by a ticket that its ledger does not know', () => {
  const ledger = memoryLedger();
  expect(open(ledger, { ticket: ticketOf(RUN, 'resume-1') })).toBe('ledger_mismatch');
  expect(ledger.facts(RUN)).toEqual([]);
  // That of another run came along with its input.
  expect(open(ledger, { ticket: ticketOf('other', 'resume-1') })).toBe('open');
  const before = memoryLedger();
  change(before, 'permit', { ticket: ticketOf(RUN, 'resume-1') });
  expect(open(before, { ticket: ticketOf(RUN, 'resume-1') })).toBe('open');
});

test('R-006 nobody takes over a run that a restored ledger does not know', () => {
  const ledger = memoryLedger();
  Object.assign(ledger, { identity: { ...ledger.identity, incarnation: 2 } });
  expect(open(ledger, { ticket: 'ticket-1' })).toBe('ledger_mismatch');
  expect(ledger.facts(RUN)).toEqual([]);
  expect(open(ledger)).toBe('open');
});
