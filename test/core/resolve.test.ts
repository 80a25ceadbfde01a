import { describe, expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { decideRejection, decideResolve } from '../../core/resolve.ts';
import { ACTION, enter, open, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  again,
  bodiesAfter,
  change,
  close,
  commandOf,
  doubt,
  end,
  inTurn,
  keyed,
  later,
  openAndEnter,
  resolve,
} from '../support/story.ts';

type Tell = (ledger: MemoryLedger) => unknown;
const doubted = () => {
  const ledger = memoryLedger();
  openAndEnter(ledger);
  doubt(ledger);
  return ledger;
};
const executed: Tell = (l) => settle(l);
const abandoned: Tell = (l) => resolve(l, { verb: 'abandon' });

describe('R-134 an answer is applied', () => {
  const evidence = { kind: 'receiver_query', source: 'log line 7' };
  test.each([
    [
      'confirm_executed',
      { externalId: 'ext-9', result: { n: 11 } },
      { evidence, externalId: 'ext-9', result: { digest: digestOf({ n: 11 }), bytes: 8 } },
    ],
    ['confirm_executed', {}, { evidence, externalId: null, result: null, coverage: null }],
    [
      'confirm_not_executed',
      { coverage: 'both', oldRequestCannotArrive: true },
      { evidence, coverage: 'both', oldRequestCannotArrive: true, permit: null },
    ],
    [
      'authorize_retry',
      { id: 'go' },
      { permit: 'permit/go', acceptsPossibleDuplicate: true, evidence: null },
    ],
    ['abandon', {}, { permit: null, evidence: null, acceptsPossibleDuplicate: false }],
  ] as const)('%s %j', (verb, over, written) => {
    const ledger = doubted();
    const { recordVersion } = actionOf(ledger);
    expect(resolve(ledger, { verb, ...over })).toEqual({ what: 'applied', why: null });
    expect(bodiesAfter(ledger, 3)).toMatchObject([
      { kind: 'resolution', verb, actor: 'ada', reason: 'looked it up', recordVersion, ...written },
    ]);
    expect(ledger.facts(RUN).at(-1)?.source).toBe('human');
  });

  test('a result that a person brings is stored', () => {
    const ledger = doubted();
    resolve(ledger, { verb: 'confirm_executed', result: null });
    expect(ledger.payloads.has(digestOf(null))).toBe(true);
    expect(actionOf(ledger).final?.resultRef?.digest).toBe(digestOf(null));
  });

  test('R-134 it starts nothing: no attempt enters by it', () => {
    const ledger = doubted();
    resolve(ledger, { verb: 'authorize_retry' });
    expect(actionOf(ledger).attempts).toHaveLength(1);
  });

  test('R-134 after a revoke it is recorded, and still nothing may enter', () => {
    const ledger = doubted();
    change(ledger, 'revoke');
    expect(resolve(ledger, { verb: 'authorize_retry' }).what).toBe('applied');
    expect(enter(ledger, { ...again(), revisions: ledger.run(RUN).revisions }).verdict).toBe(
      'revoked',
    );
  });

  test('the same command id is applied once, for ever, whatever it says', () => {
    const ledger = doubted();
    const command = commandOf(ledger, { verb: 'confirm_executed' });
    const send = () => ledger.decide({ runId: RUN }, decideResolve(command));
    expect([send(), send()]).toEqual([
      { what: 'applied', why: null },
      { what: 'duplicate', why: null },
    ]);
    expect(resolve(ledger, { verb: 'abandon', id: command.id }).what).toBe('duplicate');
    expect(ledger.facts(RUN)).toHaveLength(4);
  });
});

describe('R-134 D7 an answer is rejected, recorded, and changes nothing', () => {
  const retry = { verb: 'authorize_retry', acceptsPossibleDuplicate: false } as const;
  const no = { verb: 'confirm_not_executed' } as const;
  test.each<[string, string, Tell, Parameters<typeof resolve>[1]]>([
    [
      'no attempt of it entered',
      'an action nobody knows',
      () => {},
      { verb: 'abandon', actionId: 'r.x' },
    ],
    [
      'no attempt of it entered',
      'an action that only was refused',
      (l) => close(l, 'r.t9.c1~1'),
      { verb: 'abandon', actionId: 'r.t9.c1', recordVersion: 4 },
    ],
    [
      'the answer is to record 2, the record is now 3',
      'based on an older record',
      () => {},
      { verb: 'abandon', recordVersion: 2 },
    ],
    [
      'record 99 does not exist',
      'based on a record of the future',
      () => {},
      { verb: 'abandon', recordVersion: 99 },
    ],
    [
      'replace every "FILL IN"',
      'a reason left as it was',
      () => {},
      { verb: 'abandon', reason: 'FILL IN' },
    ],
    [
      'replace every "FILL IN"',
      'evidence left as it was',
      () => {},
      { ...no, evidence: { kind: 'human_attestation', source: 'FILL IN' } },
    ],
    [
      'replace every "FILL IN"',
      'coverage left as it was',
      () => {},
      { ...no, coverage: 'FILL IN' },
    ],
    [
      'its outcome is final; a retry',
      'a retry of what was executed',
      executed,
      { verb: 'authorize_retry' },
    ],
    ['it was abandoned', 'a retry of what was given up', abandoned, { verb: 'authorize_retry' }],
    ['does not de-duplicate', 'a retry that accepts no duplicate', () => {}, retry],
    ['nothing to abandon', 'to give up what was executed', executed, { verb: 'abandon' }],
    ['settled already', 'to confirm what was executed', executed, { verb: 'confirm_executed' }],
    ['settled already', 'to deny what was not sent', (l) => settle(l, { outcome: 'not_sent' }), no],
    [
      'settled already',
      'to deny what the receiver refused',
      (l) => settle(l, { outcome: 'refused' }),
      no,
    ],
    ['settled already', 'to deny it twice', (l) => resolve(l, no), no],
    [
      'settled already',
      'to give up what was not sent',
      (l) => settle(l, { outcome: 'not_sent' }),
      { verb: 'abandon' },
    ],
  ])('%s: %s', (why, _what, tell, answer) => {
    const ledger = doubted();
    tell(ledger);
    const count = ledger.facts(RUN).length;
    const before = ledger.run(RUN).actions.get(ACTION);
    const reply = resolve(ledger, answer);
    expect(reply.what).toBe('rejected');
    expect(reply.why).toContain(why);
    expect(reply.why).toContain(String(answer['actionId'] ?? ACTION));
    expect(bodiesAfter(ledger, count)).toEqual([
      { kind: 'command_rejected', commandId: `answer-${count}`, name: 'resolve', why: reply.why },
    ]);
    expect(ledger.run(RUN).actions.get(ACTION)).toEqual(before);
  });

  test('what is only noted about an action does not make an answer stale', () => {
    const ledger = doubted();
    const { recordVersion } = actionOf(ledger);
    resolve(ledger, { verb: 'abandon', reason: 'FILL IN' });
    expect(actionOf(ledger).recordVersion).toBe(recordVersion);
    expect(resolve(ledger, { verb: 'abandon' }).what).toBe('applied');
  });

  test('rejections are kept up to a cap, and then still answered', () => {
    const ledger = doubted();
    const reject = decideRejection({ commandId: null, name: 'resolve', why: 'x'.repeat(5_000) });
    for (let i = 0; i < limits.rejectedCommandsMax + 2; i++)
      expect(ledger.decide({ runId: RUN }, reject).what).toBe('rejected');
    expect(ledger.run(RUN).rejectedCount).toBe(limits.rejectedCommandsMax);
    const [first] = bodiesAfter(ledger, 3);
    expect(first).toMatchObject({ why: 'x'.repeat(limits.noteCharsMax), commandId: null });
  });

  test('R-134 what arrived with half a surrogate pair is rejected on record', () => {
    const ledger = doubted();
    const half = { commandId: 'c\ud800', name: 'n\udc00', why: 'w\ud800' };
    expect(ledger.decide({ runId: RUN }, decideRejection(half)).what).toBe('rejected');
    const kept = { commandId: 'c\ufffd', name: 'n\ufffd', why: 'w\ufffd' };
    expect(bodiesAfter(ledger, 3)).toMatchObject([kept]);
  });
});

describe('D9 an answer that contradicts the record disputes the action', () => {
  test.each<[string, Tell, Parameters<typeof resolve>[1]]>([
    ['denies what was executed', executed, { verb: 'confirm_not_executed' }],
    [
      'confirms what was denied',
      (l) => resolve(l, { verb: 'confirm_not_executed' }),
      { verb: 'confirm_executed' },
    ],
    [
      'confirms what was refused',
      (l) => settle(l, { outcome: 'refused' }),
      { verb: 'confirm_executed' },
    ],
    [
      'denies half an effect',
      (l) => settle(l, { outcome: 'partial' }),
      { verb: 'confirm_not_executed' },
    ],
  ])('it %s', (_what, tell, answer) => {
    const ledger = doubted();
    tell(ledger);
    expect(resolve(ledger, answer)).toEqual({ what: 'disputed', why: null });
    expect(actionOf(ledger).disputed).toBe(true);
  });
});

describe('a retry', () => {
  const retry = (l: MemoryLedger, acceptsPossibleDuplicate: boolean) =>
    resolve(l, { verb: 'authorize_retry', acceptsPossibleDuplicate }).what;
  test.each<[string, string, boolean, number]>([
    ['applied', 'keyed, inside retention', false, 49],
    ['rejected', 'R-027 keyed, inside the margin', false, 50],
    ['applied', 'keyed, after retention, with stated acceptance', true, 70],
  ])('is %s: %s', (what, _when, accepts, minutes) => {
    const ledger = memoryLedger();
    openAndEnter(ledger, keyed);
    later(ledger, minutes * 60_000);
    expect(retry(ledger, accepts)).toBe(what);
  });

  test('R-027 a keyed tool without retention is not in retention', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger, { replay: 'keyed' });
    expect(retry(ledger, false)).toBe('rejected');
  });

  test('its permit is single use, and survives no giving up', () => {
    const ledger = doubted();
    retry(ledger, true);
    expect(actionOf(ledger).permits).toHaveLength(1);
    resolve(ledger, { verb: 'abandon' });
    expect(actionOf(ledger).permits).toEqual([]);
    expect(enter(ledger, again()).verdict).toBe('action_in_doubt');
  });
});

describe('R-134 not executed needs more than a statement before a resend', () => {
  test.each([
    ['action_in_doubt', false],
    ['entered', true],
  ])('%s when the old request cannot arrive: %s', (verdict, oldRequestCannotArrive) => {
    const ledger = doubted();
    resolve(ledger, { verb: 'confirm_not_executed', oldRequestCannotArrive });
    expect(enter(ledger, again()).verdict).toBe(verdict);
  });

  test('a later statement does not weaken a proof', () => {
    const ledger = doubted();
    resolve(ledger, { verb: 'confirm_not_executed', oldRequestCannotArrive: true });
    resolve(ledger, { verb: 'confirm_executed' });
    resolve(ledger, { verb: 'confirm_not_executed' });
    expect(actionOf(ledger).attempts[0]?.exclusion).toBe('proved');
  });
});

test('R-110 an answer after the end of the run is recorded', () => {
  const ledger = doubted();
  inTurn(end(ledger), open(ledger));
  expect(resolve(ledger, { verb: 'confirm_executed' }).what).toBe('applied');
  expect(actionOf(ledger).final?.via).toBe('resolution');
});
