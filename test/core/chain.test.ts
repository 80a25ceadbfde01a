// Breaks a sound chain in every way there is and looks for the name of the damage.

import { describe, expect, test } from 'vitest';
import {
  type ChainFault,
  chainFaults,
  chainProblem,
  FactUnreadableError,
  genesisHash,
  genesisHead,
  readChain,
  readFact,
  sealFact,
} from '../../core/chain.ts';
import { canonicalJson, digestOfBytes } from '../../core/digest.ts';
import type { Head, NewFact } from '../../core/facts.ts';

const runId = 'invoice-42';

function rejected(name: string): NewFact {
  return {
    source: 'history',
    body: { kind: 'command_rejected', commandId: null, name, why: 'it is malformed' },
  };
}

function chainOf(run: string, names: readonly string[]): { texts: string[]; head: Head } {
  const texts: string[] = [];
  let head = genesisHead(run);
  for (const [index, name] of names.entries()) {
    const sealed = sealFact({ runId: run, head, at: 1_000 + index, fact: rejected(name) });
    texts.push(sealed.text);
    head = sealed.head;
  }
  return { texts, head };
}

const { texts, head } = chainOf(runId, ['a', 'b', 'c', 'd']);
const [one, two, three, four] = texts as [string, string, string, string];

function change(text: string, with_: Record<string, unknown>): string {
  return canonicalJson({ ...(JSON.parse(text) as object), ...with_ });
}

describe('sealing', () => {
  test('INV-4 E5 a fact is numbered, dated and linked to the exact bytes before it', () => {
    const sealed = sealFact({ runId, head: genesisHead(runId), at: 7, fact: rejected('a') });
    expect(sealed.fact).toMatchObject({ schema: 'holdfast/1', runId, seq: 1, at: 7 });
    expect(sealed.fact.prev).toBe(genesisHash(runId));
    expect(sealed.head).toEqual({
      count: 1,
      hash: digestOfBytes(new TextEncoder().encode(sealed.text)),
    });
    expect(sealed.text).toBe(canonicalJson(sealed.fact));
  });

  test('E5 two runs never share a genesis', () => {
    expect(genesisHash('invoice-42')).not.toBe(genesisHash('invoice-43'));
  });

  test('R-062 a fact without the fields of its kind is refused before it is written', () => {
    const fact = rejected('');
    expect(() => sealFact({ runId, head, at: 7, fact })).toThrow(
      /new command_rejected fact is malformed: body.name/,
    );
  });
});

describe('reading one fact', () => {
  test('R-064 a v1 fact with fields of a later version reads, and they are kept', () => {
    const later = change(one, {
      addedLater: { deep: true },
      body: { ...readFact(one).body, alsoLater: 1 },
    });
    expect(canonicalJson(readFact(later))).toBe(later);
  });

  test('R-064 a later field inside a strict part of a fact reads too', () => {
    const body = {
      kind: 'run_ended',
      end: { kind: 'completed', addedLater: 1 },
      epoch: 1,
      openUnknowns: [],
      answer: null,
    };
    expect(readFact(change(one, { body })).body).toEqual(body);
  });

  test.each<[string, string, string, RegExp]>([
    [
      'another schema major',
      change(one, { schema: 'holdfast/2' }),
      'unknown_schema',
      /holdfast\/2/,
    ],
    [
      'an unknown kind',
      change(one, { body: { kind: 'run_paused' } }),
      'unknown_kind',
      /"run_paused".*upgrade/,
    ],
    ['no schema at all', '{}', 'unreadable', /schema/],
    ['a missing field', change(one, { at: null }), 'unreadable', /at: /],
    ['an unsound field beside an unknown one', change(one, { x: 1, seq: 0 }), 'unreadable', /seq/],
    ['half a line', one.slice(0, -9), 'unreadable', /no JSON/],
  ])('R-064 R-068 %s is refused by its own name', (_, text, fault, words) => {
    const read = () => readFact(text);
    expect(read).toThrow(FactUnreadableError);
    expect(read).toThrow(expect.objectContaining({ fault }));
    expect(read).toThrow(words);
  });
});

const spliced = chainOf('invoice-43', ['a', 'b', 'c', 'd']).texts[1] as string;
const cousin = chainOf(runId, ['a', 'x', 'c', 'd']).texts[1] as string;
const editedTwo = two.replace('malformed', 'well formed');

const damages: [ChainFault, string, readonly string[], number][] = [
  ['unreadable', 'a line cut in the middle', [one, two.slice(0, 50), three, four], 2],
  ['unknown_schema', 'a later major', [one, change(two, { schema: 'holdfast/2' }), three, four], 2],
  ['unknown_kind', 'a later kind', [one, change(two, { body: { kind: 'x' } }), three, four], 2],
  ['other_run', "another run's fact", [one, spliced, three, four], 2],
  ['duplicated', 'a fact twice', [one, two, two, three, four], 2],
  ['conflicting', 'two facts of one number', [one, two, cousin, three, four], 2],
  ['reordered', 'two facts changed round', [one, three, two, four], 2],
  ['gap', 'a fact missing in the middle', [one, two, four], 3],
  ['gap', 'a fact missing before a broken one', [one, two, four, 'broken'], 3],
  ['edited', 'a fact changed in the middle', [one, editedTwo, three, four], 2],
  ['edited', 'a first fact with another beginning', [change(one, { prev: head.hash })], 1],
  ['edited', 'the last fact changed', [one, two, three, four.replace('malformed', 'fine')], 4],
  ['tail_dropped', 'the last facts missing', [one, two], 3],
  ['beyond_head', 'a fact the head knows nothing of', chainOf(runId, [...'abcde']).texts, 5],
];

describe('reading a chain', () => {
  test('R-068 a whole chain gives its facts and its head', () => {
    const reading = readChain({ runId, texts, head });
    expect(reading).toEqual({ kind: 'whole', facts: texts.map(readFact), head });
    expect(chainProblem({ runId, texts, head })).toBeNull();
    expect(chainProblem({ runId, texts: [], head: genesisHead(runId) })).toBeNull();
  });

  test.each(damages)('R-068 R-071 E9 E13 %s: %s', (fault, _, damaged, seq) => {
    expect(chainProblem({ runId, texts: damaged, head })).toMatchObject({ fault, seq });
  });

  test('E13 every fault has a row above', () => {
    expect(new Set(damages.map(([fault]) => fault))).toEqual(new Set(chainFaults));
  });

  test('E8 reading goes on from a trusted head and gives the same end', () => {
    const first = readChain({ runId, texts: [one, two], head: null });
    expect(first.kind).toBe('whole');
    const from = first.kind === 'whole' ? first.head : genesisHead(runId);
    expect(chainProblem({ runId, texts: [three, four], from, head })).toBeNull();
    expect(chainProblem({ runId, texts: [two], from, head })).toMatchObject({
      fault: 'duplicated',
    });
    expect(chainProblem({ runId, texts: [three, two], from, head })).toMatchObject({
      fault: 'duplicated',
    });
  });

  test('E9 without a head kept apart a dropped tail cannot be seen', () => {
    expect(chainProblem({ runId, texts: [one, two], head: null })).toBeNull();
  });

  test('R-069 a chain rewritten together with its head reads as whole', () => {
    const rewritten = chainOf(runId, ['a', 'forged']);
    expect(chainProblem({ runId, ...rewritten })).toBeNull();
  });
});
