import { describe, expect, test } from 'vitest';
import { genesisBase, rolledOf } from '../../core/consumes.ts';
import { limits } from '../../core/limits.ts';
import { walkPage } from '../../core/walk.ts';
import { ACTION, binding, enter, open, payloadOf, RUN, settle } from '../support/asks.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { again, bodiesAfter, doubt, openAndEnter, safe } from '../support/story.ts';

const idOf = (turn: number) => `r.t${turn}.c1`;
const enterTurn = (ledger: ReturnType<typeof memoryLedger>, turn: number) =>
  enter(ledger, { ...safe, actionId: idOf(turn), attemptId: `${idOf(turn)}~1` });

describe('R-052 an entry of the recorded walk', () => {
  test('of an executed action is its outcome, stored payload, binding and rolling digest', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    settle(ledger);
    const payload = payloadOf({ amount: 10 });
    expect(walkPage(ledger.run(RUN), null)).toEqual({
      next: null,
      entries: [
        {
          actionId: ACTION,
          position: 't1.c1',
          binding,
          payload: { digest: payload.digest, bytes: payload.bytes.length },
          outcome: expect.objectContaining({ kind: 'executed', externalId: 'ext-1' }),
          openAttempts: [],
          attemptsEntered: 1,
          rolled: rolledOf({ base: genesisBase(RUN), pairs: [] }),
        },
      ],
    });
  });

  test('R-053 of an unknown one has no outcome, and names what is open', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    doubt(ledger);
    const [entry] = walkPage(ledger.run(RUN), null).entries;
    expect(entry).toMatchObject({ outcome: null, openAttempts: [`${ACTION}~1`] });
  });

  test('R-021 of a refused one keeps the payload that stayed unsent', () => {
    const ledger = memoryLedger();
    open(ledger);
    doubt(ledger);
    enter(ledger, { ...again(), barrier: { kind: 'not_current', why: 'paused' } });
    const [entry] = walkPage(ledger.run(RUN), null).entries;
    expect(entry).toMatchObject({
      payload: { digest: payloadOf({ amount: 10 }).digest },
      binding: null,
      rolled: null,
      attemptsEntered: 0,
    });
  });

  test('of one that closed before its payload was known has none', () => {
    const ledger = memoryLedger();
    open(ledger);
    doubt(ledger);
    expect(walkPage(ledger.run(RUN), null).entries[0]?.payload).toBeNull();
  });
});

describe('R-051 pages', () => {
  const total = limits.walkPageMax * 2 + 1;
  const ledger = memoryLedger();
  open(ledger);
  for (let turn = 1; turn <= total; turn++) enterTurn(ledger, turn);

  test('together are every recorded action once, in the order of the first fact', () => {
    const seen: string[] = [];
    let pages = 0;
    for (let after: string | null = null, more = true; more; pages++) {
      const page = walkPage(ledger.run(RUN), after);
      expect(page.entries.length).toBeLessThanOrEqual(limits.walkPageMax);
      seen.push(...page.entries.map((entry) => entry.actionId));
      after = page.next;
      more = after !== null;
    }
    expect(pages).toBe(3);
    expect(seen).toEqual(Array.from({ length: total }, (_, index) => idOf(index + 1)));
  });

  test('a page that ends with the last action is the last', () => {
    const exact = memoryLedger();
    open(exact);
    for (let turn = 1; turn <= limits.walkPageMax; turn++) enterTurn(exact, turn);
    expect(walkPage(exact.run(RUN), null).next).toBeNull();
    expect(walkPage(exact.run(RUN), idOf(limits.walkPageMax))).toEqual({ entries: [], next: null });
  });

  test('of an empty run are one empty page', () => {
    expect(walkPage(memoryLedger().run(RUN), null)).toEqual({ entries: [], next: null });
  });

  test('after an action that the run does not know there is no page: it names it', () => {
    expect(() => walkPage(ledger.run(RUN), 'r.t0.c9')).toThrow('walk of run r: no action r.t0.c9');
    expect(bodiesAfter(ledger, 0)).toHaveLength(total + 1);
  });
});
