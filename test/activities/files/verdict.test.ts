// Would catch: a row that says "executed" of a file somebody else wrote, "not executed" of one that
// was published, or that troubles a person over what the traces tell. Every combination of traces
// has its row here; a model of writer and others walks to every state they can leave behind.

import { describe, expect, test } from 'vitest';
import {
  type AtDraft,
  type AtTarget,
  answerOf,
  answerOfPutBack,
  type FileVerdict,
  type Prepared,
  type Publish,
  verdictOf,
  verdicts,
} from '../../../activities/tools/files/verdict.ts';
import { type Digest, digestOf } from '../../../core/digest.ts';

const content = { old: digestOf('old'), new: digestOf('new'), third: digestOf('third') };
type Content = keyof typeof content;

const targets = {
  absent: { kind: 'absent' },
  'ours, new': { kind: 'ours', digest: content.new },
  'ours, third': { kind: 'ours', digest: content.third },
  old: { kind: 'file', digest: content.old },
  'another new': { kind: 'file', digest: content.new },
  third: { kind: 'file', digest: content.third },
  other: { kind: 'other' },
} as const satisfies Record<string, AtTarget>;

const kept = (digest: Digest | null): AtDraft => ({ kind: 'file', digest, name: 'kept' });
const drafts = {
  gone: { kind: 'gone' },
  ours: { kind: 'ours', touched: false },
  touched: { kind: 'ours', touched: true },
  old: kept(content.old),
  new: kept(content.new),
  third: kept(content.third),
  'no file': kept(null),
} as const satisfies Record<string, AtDraft>;

type Row = readonly [keyof typeof targets, Record<keyof typeof drafts, FileVerdict>];
const row = (target: keyof typeof targets, ...seven: readonly FileVerdict[]): Row => [
  target,
  Object.fromEntries(Object.keys(drafts).map((name, at) => [name, seven[at]])) as never,
];
const [hit, edited, replaced] = [
  'published',
  'published_then_changed',
  'published_then_replaced',
] as const;
const [fenced, touched, lost, twice] = ['withdrawn', 'touched', 'no_trace', 'two_names'] as const;
const [back, kept_] = ['displaced_another', 'displaced_another_for_good'] as const;

/** Columns: what is at the draft's name, in the order of `drafts`. */
const tables: Record<Publish, readonly Row[]> = {
  link: [
    row('absent', lost, fenced, touched, lost, lost, lost, lost),
    row('ours, new', hit, hit, hit, hit, hit, hit, hit),
    row('ours, third', edited, edited, edited, edited, edited, edited, edited),
    row('old', lost, fenced, touched, lost, lost, lost, lost),
    row('another new', lost, fenced, touched, lost, lost, lost, lost),
    row('third', lost, fenced, touched, lost, lost, lost, lost),
    row('other', lost, fenced, touched, lost, lost, lost, lost),
  ],
  rename: [
    row('absent', lost, fenced, fenced, lost, lost, lost, lost),
    row('ours, new', hit, twice, twice, hit, hit, hit, hit),
    row('ours, third', edited, twice, twice, edited, edited, edited, edited),
    row('old', lost, fenced, fenced, lost, lost, lost, lost),
    row('another new', lost, fenced, fenced, lost, lost, lost, lost),
    row('third', lost, fenced, fenced, lost, lost, lost, lost),
    row('other', lost, fenced, fenced, lost, lost, lost, lost),
  ],
  swap: [
    row('absent', lost, fenced, fenced, replaced, kept_, kept_, kept_),
    row('ours, new', hit, twice, twice, hit, back, back, back),
    row('ours, third', edited, twice, twice, edited, kept_, kept_, kept_),
    row('old', lost, fenced, fenced, replaced, kept_, kept_, kept_),
    row('another new', lost, fenced, fenced, replaced, kept_, kept_, kept_),
    row('third', lost, fenced, fenced, replaced, kept_, kept_, kept_),
    row('other', lost, fenced, fenced, replaced, kept_, kept_, kept_),
  ],
};

const preparedFor = (publish: Publish): Prepared => ({
  publish,
  old: publish === 'link' ? 'absent' : content.old,
  new: content.new,
});

describe.each(Object.entries(tables))('C12 R-127 published by %s', (publish, rows) => {
  const prepared = preparedFor(publish as Publish);
  const cells = rows.flatMap(([target, row]) =>
    Object.entries(row).map(([draft, verdict]) => [target, draft, verdict] as const),
  );
  test.each(cells)('target %s, draft %s: %s', (target, draft, verdict) => {
    const traces = { prepared, target: targets[target], draft: drafts[draft as 'gone'] };
    expect(verdictOf(traces)).toBe(verdict);
  });

  test('every combination has its row', () => {
    expect(rows.map(([target]) => target)).toEqual(Object.keys(targets));
  });
});

test('C12 an attempt that prepared nothing published nothing, whatever is there', () => {
  for (const target of Object.values(targets))
    for (const draft of Object.values(drafts))
      expect(verdictOf({ prepared: null, target, draft })).toBe('not_prepared');
});

test('R-082 no answer has a result; what each says', () => {
  const at = {
    path: 'a/f',
    prepared: preparedFor('swap'),
    target: targets.third,
    draft: drafts.third,
  };
  const said = Object.fromEntries(verdicts.map((verdict) => [verdict, answerOf(verdict, at)]));
  for (const answer of Object.values(said)) expect(answer).not.toHaveProperty('result');
  const kinds = Object.fromEntries(verdicts.map((name) => [name, said[name]?.verdict]));
  expect(kinds).toEqual({
    not_prepared: 'not_executed',
    two_names: 'conflict',
    displaced_another: 'conflict',
    displaced_another_for_good: 'conflict',
    published: 'executed',
    published_then_changed: 'executed',
    published_then_replaced: 'executed',
    withdrawn: 'not_executed',
    touched: 'conflict',
    no_trace: 'conflict',
  });
  expect(said['published']).toEqual({
    verdict: 'executed',
    externalId: 'a/f',
    objectVersion: content.new,
  });
  expect(said['displaced_another']).toMatchObject({ detail: expect.stringContaining('"kept"') });
  expect(answerOfPutBack(at)).toMatchObject({ verdict: 'not_executed', proof: 'closed_token' });
});

test.each([
  ['absent', 'no file is there now'],
  ['old', 'the old content is there now'],
  ['another new', 'already satisfied'],
  ['third', 'conflict'],
  ['other', 'no regular file'],
] as const)('R-127 never published, and what is there now is said: %s', (target, words) => {
  const at = { path: 'f', prepared: preparedFor('rename'), target: targets[target] };
  const answer = answerOf('withdrawn', { ...at, draft: drafts.ours });
  expect(answer).toMatchObject({ verdict: 'not_executed', detail: expect.stringContaining(words) });
});

/** A file at a name: ours, whose content is the same at both names, or another's. */
type Stands = 'ours' | { readonly content: Content } | null;

interface World {
  readonly publish: Publish;
  readonly target: Stands;
  readonly draft: Stands;
  readonly ours: Content;
  readonly touched: boolean;
  /** The truth. */
  readonly published: boolean;
  readonly wasPublished: boolean;
}

const contentAt = (world: World, stands: Stands): Content | null =>
  stands === 'ours' ? world.ours : (stands?.content ?? null);

/** What the writer can do next, frozen and woken at any point; nothing once its draft is gone. */
function writers(world: World): World[] {
  const { publish, target, draft, wasPublished } = world;
  const next: World[] = [];
  const done = { published: true, wasPublished: true };
  if (!wasPublished && draft === 'ours') {
    if (publish === 'link' && target === null)
      next.push({ ...world, ...done, target: 'ours', touched: true });
    if (publish === 'rename' && target !== 'ours')
      next.push({ ...world, ...done, target: 'ours', draft: null });
    if (publish === 'swap' && target !== null)
      next.push({ ...world, ...done, target: 'ours', draft: target });
  }
  if (!world.published || draft === null) return next;
  if (publish === 'link') next.push({ ...world, draft: null });
  if (publish === 'swap' && contentAt(world, draft) === 'old') next.push({ ...world, draft: null });
  // It sees that it displaced another's change, and puts it back.
  if (publish === 'swap' && contentAt(world, draft) !== 'old' && target === 'ours')
    next.push({ ...world, published: false, target: draft, draft: 'ours' });
  return next;
}

/** What others do who know nothing of drafts and locks: editors, shells, backups. */
function others(world: World): World[] {
  const { target, draft } = world;
  const next: World[] = [{ ...world, touched: true }];
  for (const each of ['old', 'new', 'third'] as const)
    next.push({ ...world, target: { content: each } });
  next.push({ ...world, target: null }, { ...world, draft: null });
  if (target === 'ours') next.push({ ...world, ours: 'third', touched: true });
  // Opened before it was displaced.
  if (draft !== null && draft !== 'ours') next.push({ ...world, draft: { content: 'third' } });
  return next;
}

function reached(publish: Publish, moves: (world: World) => World[]): World[] {
  const start: World = {
    ...{ publish, draft: 'ours', ours: 'new', touched: false },
    target: publish === 'link' ? null : { content: 'old' },
    ...{ published: false, wasPublished: false },
  };
  const seen = new Map([[JSON.stringify(start), start]]);
  for (const world of seen.values())
    for (const next of moves(world)) {
      const key = JSON.stringify(next);
      if (!seen.has(key)) seen.set(key, next);
    }
  return [...seen.values()];
}

function verdictIn(world: World): FileVerdict {
  const { publish, touched } = world;
  const seenAs = (stands: Stands): AtTarget => {
    const found = contentAt(world, stands);
    if (found === null) return { kind: 'absent' };
    return { kind: stands === 'ours' ? 'ours' : 'file', digest: content[found] };
  };
  const at = seenAs(world.draft);
  const draft: AtDraft =
    at.kind === 'file'
      ? kept(at.digest)
      : at.kind === 'ours'
        ? { kind: 'ours', touched }
        : drafts.gone;
  return verdictOf({ prepared: preparedFor(publish), target: seenAs(world.target), draft });
}

const publishes = ['link', 'rename', 'swap'] as const;

test.each(publishes)('C11 whatever was done before, the answer is true: by %s', (publish) => {
  const worlds = reached(publish, (world) => [...writers(world), ...others(world)]);
  expect(worlds.length).toBeGreaterThan(25);
  for (const world of worlds) {
    const { verdict } = answerOf(verdictIn(world), {
      ...{ path: 'f', prepared: preparedFor(publish) },
      ...{ target: targets.absent, draft: drafts.gone },
    });
    if (verdict === 'executed') expect(world, verdictIn(world)).toMatchObject({ published: true });
    if (verdict === 'not_executed')
      expect(world, verdictIn(world)).toMatchObject({ published: false });
  }
});

test.each(publishes)('R-127 where nobody else was, no person is asked: by %s', (publish) => {
  for (const world of reached(publish, writers))
    expect(verdictIn(world)).toBe(world.published ? 'published' : 'withdrawn');
});
