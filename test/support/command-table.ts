// Every command that a run takes, one row each: what a generator of commands needs to know.

import * as fc from 'fast-check';
import type * as z from 'zod';
import { authorityCommands, lateFactSchema, resolveSchema } from '../../core/commands.ts';
import { digestOf, type Json } from '../../core/digest.ts';

/** The run that commands are made up for. */
export interface About {
  readonly runId: string;
  /** An action of it that has entered. */
  readonly actionId: string;
}

export type Command = { readonly [field: string]: Json };

/** Well-formed, and certain to be refused. */
export interface Unfit {
  readonly command: Command;
  /** Who finds out: an update that the desk of a question refuses leaves no fact. */
  readonly foundBy: 'question' | 'ledger';
}

export interface CommandRow {
  readonly schema: z.ZodType;
  /** Some have no update: activities send them. */
  readonly by: readonly ('signal' | 'update')[];
  /** Questions take it, too. */
  readonly atQuestion: boolean;
  /** Whatever it would do; what is nearly well-formed is made of it. */
  readonly wellFormed: (about: About) => fc.Arbitrary<Command>;
  /** Null: every well-formed one applies, so that none is sent at random. */
  readonly unfit: ((about: About) => fc.Arbitrary<Unfit>) | null;
  /** A well-formed one says nothing new, and leaves no fact. */
  readonly isHint: boolean;
}

const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
  .filter((value) => value.isWellFormed());
const commandId = ({ runId }: About) =>
  fc.oneof(
    // Sent again and again: refused each time, whether or not the first one is still under way.
    { weight: 1, arbitrary: fc.constantFrom(`${runId}/again-1`, `${runId}/again-2`) },
    { weight: 4, arbitrary: fc.uuid() },
  );
const base = (about: About) => ({ id: commandId(about), actor: text, reason: text });
const evidence = fc.record({
  kind: fc.constantFrom('receiver_query', 'object_observation', 'human_attestation'),
  source: text,
});

type Verb = keyof typeof authorityCommands;

/** A well-formed one applies, or would at another moment: only what cannot be read is sent. */
const authority = (verb: Verb, fields: (about: About) => object = () => ({})): CommandRow => ({
  schema: authorityCommands[verb],
  by: ['signal', 'update'],
  atQuestion: false,
  wellFormed: (about) => fc.record({ ...base(about), ...fields(about) }) as fc.Arbitrary<Command>,
  unfit: null,
  isHint: false,
});
const approval = ({ actionId }: About) => ({
  actionId: fc.constant(actionId),
  bound: fc.constant(digestOf('what was asked')),
});
const grants = fc.subarray(['effect', 'query', 'read', 'send', 'accept', 'compensate']);

function answer(about: About, actionId: string, recordVersion: number): fc.Arbitrary<Command> {
  const named = {
    ...base(about),
    actionId: fc.constant(actionId),
    recordVersion: fc.constant(recordVersion),
  };
  return fc.oneof(
    fc.record({ ...named, verb: fc.constant('confirm_executed'), evidence }),
    fc.record({
      ...{ ...named, verb: fc.constant('confirm_executed'), evidence },
      result: fc
        .integer({ min: 0, max: 150_000 })
        .map((length) => ({ found: '字'.repeat(length) })),
    }),
    fc.record({
      ...{ ...named, verb: fc.constant('confirm_not_executed'), evidence, coverage: text },
      oldRequestCannotArrive: fc.boolean(),
    }),
    fc.record({
      ...{ ...named, verb: fc.constant('authorize_retry') },
      acceptsPossibleDuplicate: fc.boolean(),
    }),
    fc.record({ ...named, verb: fc.constant('abandon') }),
    fc.record({
      ...{ ...named, verb: fc.constant('confirm_distinct') },
      distinctFrom: fc.constantFrom(`${about.runId}.t98.c1`, 'another.t1.c1'),
    }),
    fc.record({
      ...{ ...named, verb: fc.constant('settle_dispute'), evidence },
      states: fc.constantFrom('executed', 'not_executed'),
    }),
  );
}

const NEVER_WRITTEN = 1_000_000_000;

const resolve: CommandRow = {
  schema: resolveSchema,
  by: ['signal', 'update'],
  atQuestion: true,
  wellFormed: (about) => answer(about, about.actionId, 3),
  unfit: (about) => {
    const of = (foundBy: Unfit['foundBy'], actionId: string, version: number) =>
      answer(about, actionId, version).map((command): Unfit => ({ command, foundBy }));
    return fc.oneof(
      of('question', `${about.runId}.t99.c1`, 3),
      of('question', 'another.t1.c1', 3),
      of('question', about.actionId, 1),
      of('ledger', about.actionId, NEVER_WRITTEN),
    );
  },
  isHint: false,
};

const lateFact: CommandRow = {
  schema: lateFactSchema,
  by: ['signal'],
  atQuestion: true,
  wellFormed: ({ runId, actionId }) =>
    fc.record({
      actionId: fc.constantFrom(actionId, `${runId}.t99.c1`, 'another.t1.c1'),
      attemptId: fc.option(text, { nil: null }),
      outcomeDigest: fc.constantFrom(null, digestOf('an outcome')),
    }),
  unfit: null,
  isHint: true,
};

export const commandTable: { readonly [name: string]: CommandRow } = {
  revoke: authority('revoke', () => ({ keep: fc.constant(['query']) })),
  cancel: authority('cancel'),
  amend: authority('amend', () => ({ grants })),
  approve: authority('approve', approval),
  deny: authority('deny', approval),
  topUp: authority('topUp', () => ({ tokens: fc.integer({ min: 1, max: 1_000 }) })),
  resolve,
  lateFact,
};
