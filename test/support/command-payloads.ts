// Commands that a run must survive, drawn from a seed: everything that can be sent to it and none
// that it would act on. What each has to leave behind is known when it is drawn.

import * as fc from 'fast-check';
import { spoilers } from './command-spoilers.ts';
import { type About, type CommandRow, commandTable } from './command-table.ts';

export interface RawPayload {
  readonly encoding: string | null;
  readonly data: Uint8Array;
}

export interface Sent {
  readonly label: string;
  readonly by: 'signal' | 'update';
  readonly at: 'run' | 'question';
  readonly name: string;
  /** Made when it is sent: thousands of them would fill the memory. */
  readonly payloads: () => readonly RawPayload[];
  /** What is on record afterwards, or counted beyond the cap. */
  readonly leaves: 'rejection' | 'nothing';
}

export interface Mix {
  readonly about: About;
  readonly by: readonly Sent['by'][];
  readonly at: readonly Sent['at'][];
  /** Megabytes; left out where a history has to stay short. */
  readonly huge: 'with' | 'without';
}

/** As many as asked for; the same for the same seed. */
export function drawn(mix: Mix, { seed, count }: { seed: number; count: number }): readonly Sent[] {
  return fc.sample(arbitrary(mix), { seed, numRuns: count });
}

type Draft = Pick<Sent, 'label' | 'payloads'> & { readonly name?: string };
type Drafts = (name: string, row: CommandRow, about: About) => fc.Arbitrary<Draft>;

const utf8 = new TextEncoder();
const plain = (text: string): RawPayload => ({ encoding: 'json/plain', data: utf8.encode(text) });
const one = (label: string, text: string): Draft => ({ label, payloads: () => [plain(text)] });

/** Where the schema takes it, it is no noise. */
function isRefused({ schema }: CommandRow, text: string): boolean {
  return !schema.safeParse(JSON.parse(text)).success;
}

const nearly: Drafts = (_, row, about) =>
  fc
    .tuple(row.wellFormed(about), fc.constantFrom(...Object.entries(spoilers)))
    .chain(([command, [how, spoil]]) => spoil(command).map((text) => ({ how, text })))
    .filter(({ text }) => isRefused(row, text))
    .map(({ how, text }) => one(how, text));

const anyJson: Drafts = (_, row) =>
  fc
    .oneof(
      fc.jsonValue({ maxDepth: 6 }).map((value) => JSON.stringify(value)),
      fc.json({ stringUnit: 'binary', maxDepth: 3 }),
      fc.constantFrom('null', '0', '""', '[]', '{}', 'true', '{"id":"x"}', '{"id":{"id":1}}'),
    )
    .filter((text) => isRefused(row, text))
    .map((text) => one('any JSON', text));

const ENCODINGS = [
  ...['binary/plain', 'json/protobuf', 'binary/protobuf', 'binary/encrypted', 'binary/zlib'],
  ...['unknown/x', '', 'JSON/PLAIN', 'a'.repeat(50_000), 'json/plain\u0000', '__proto__'],
];
const GZIP = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0];

const bytes: Drafts = (_, row, about) =>
  fc
    .tuple(
      fc.oneof(fc.constantFrom(...ENCODINGS, null), fc.string()),
      fc.oneof(
        fc.uint8Array({ maxLength: 400 }),
        fc.constant(Uint8Array.from(GZIP)),
        row.wellFormed(about).map((command) => utf8.encode(JSON.stringify(command))),
      ),
    )
    .filter(([encoding]) => encoding !== 'json/plain')
    .map(([encoding, data]) => ({ label: 'no JSON', payloads: () => [{ encoding, data }] }));

const broken: Drafts = (_, row, about) =>
  row.wellFormed(about).chain((command) => {
    const text = JSON.stringify(command);
    return fc
      .integer({ min: 0, max: text.length - 1 })
      .map((end) => one('cut', text.slice(0, end)));
  });

const severalOrNone: Drafts = (_, row, about) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Draft>({ label: 'no argument', payloads: () => [] }) },
    {
      weight: 3,
      arbitrary: row.wellFormed(about).map((command) => ({
        label: 'a command behind another argument',
        payloads: () => ['7', JSON.stringify(command)].map(plain),
      })),
    },
  );

/** Temporal takes 2 MB. */
const HUGE = 1_900_000;
const MANY = 100_000;
/** More than a call takes on the stack. */
const ARGUMENTS = 130_000;
const NOTHING = new Uint8Array();
const hugeTexts: { readonly [label: string]: (length: number) => string } = {
  'one long text': (length) => JSON.stringify('x'.repeat(length)),
  'a long reason': (length) =>
    JSON.stringify({ id: 'huge', actor: 'a', reason: '字'.repeat(length / 3) }),
  'many numbers': (length) => `[${'7,'.repeat(Math.min(length / 2, MANY))}7]`,
  'nothing but brackets': (length) => `[${'[],'.repeat(length / 3)}[]]`,
  'no bottom': (length) => `${'['.repeat(length / 2)}${']'.repeat(length / 2)}`,
  'many keys': (length) =>
    `{${Array.from({ length: Math.min(length / 12, MANY) }, (_, n) => `"k${n}":0`).join()}}`,
};

/** Without a kind, because with one each so many would be too large to be sent. */
const manyArguments = fc.constant<Draft>({
  label: 'more arguments than a call takes',
  payloads: () => Array.from({ length: ARGUMENTS }, () => ({ encoding: null, data: NOTHING })),
});

const huge: Drafts = (...of) =>
  fc.oneof({ weight: 9, arbitrary: hugeJson(...of) }, { weight: 1, arbitrary: manyArguments });

const hugeJson: Drafts = (_, row, about) =>
  fc
    .tuple(
      fc.integer({ min: 400_000, max: HUGE }),
      fc.constantFrom(...Object.entries(hugeTexts)),
      row.wellFormed(about),
      fc.boolean(),
    )
    .map(([length, [label, make], command, isInside]) => {
      if (!isInside) return { label, payloads: () => [plain(make(length))] };
      // Inside a field that takes any JSON, of a command with one field too many.
      const spoilt = { ...command, verb: 'confirm_executed', result: 'HERE', status: 'done' };
      const text = JSON.stringify(spoilt);
      const inside = () => plain(text.replace('"HERE"', () => make(length - text.length - 100)));
      return { label: `${label}, inside`, payloads: () => [inside()] };
    });

const NAMES = ['__temporal_x', '__temporal_workflow_stream_publish', '__stack_trace', '__proto__'];
const MORE_NAMES = [
  'constructor',
  'toString',
  'then',
  'REVOKE',
  'revoke ',
  'state',
  'n'.repeat(999),
];

const unknownName: Drafts = (_, row, about) =>
  fc
    .tuple(
      fc.oneof(
        fc.constantFrom(...NAMES, ...MORE_NAMES),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }),
      ),
      row.wellFormed(about),
    )
    .filter(([name]) => !(name in commandTable) && name.isWellFormed() && name.length <= 1_000)
    .map(([name, command]) => ({ ...one('an unknown name', JSON.stringify(command)), name }));

const kinds: readonly { readonly weight: number; readonly drafts: Drafts }[] = [
  { weight: 34, drafts: nearly },
  { weight: 14, drafts: anyJson },
  { weight: 12, drafts: bytes },
  { weight: 6, drafts: broken },
  { weight: 6, drafts: severalOrNone },
  { weight: 10, drafts: unknownName },
];
const HUGE_WEIGHT = 4;
const UNFIT_WEIGHT = 12;
const HINT_WEIGHT = 4;

function arbitrary(mix: Mix): fc.Arbitrary<Sent> {
  const { about, at } = mix;
  const places = fc.constantFrom(...at).chain((place) => {
    const rows = Object.entries(commandTable).filter(
      ([, row]) => place === 'run' || row.atQuestion,
    );
    return fc.constantFrom(...rows).map(([name, row]) => ({ place, name, row }));
  });
  const unread = [
    ...kinds,
    ...(mix.huge === 'with' ? [{ weight: HUGE_WEIGHT, drafts: huge }] : []),
  ];
  return places.chain(({ place, name, row }) => {
    const by = fc.constantFrom(...row.by.filter((each) => mix.by.includes(each)));
    const noise = fc
      .tuple(by, fc.oneof(...unread.map((each) => weighted(each, { name, row, about }))))
      .map(([way, draft]): Sent => {
        const leaves = way === 'signal' ? 'rejection' : 'nothing';
        return { name, ...draft, by: way, at: place, leaves };
      });
    const { unfit } = row;
    return fc.oneof(
      { weight: 100 - UNFIT_WEIGHT - HINT_WEIGHT, arbitrary: noise },
      ...(unfit === null
        ? []
        : [{ weight: UNFIT_WEIGHT, arbitrary: fc.tuple(by, unfit(about)).map(unfitSent) }]),
      ...(row.isHint
        ? [{ weight: HINT_WEIGHT, arbitrary: row.wellFormed(about).map(hintSent) }]
        : []),
    );

    function unfitSent([way, { command, foundBy }]: [
      Sent['by'],
      { command: object; foundBy: string },
    ]): Sent {
      const isValidated = way === 'update' && place === 'question' && foundBy === 'question';
      const leaves = isValidated ? 'nothing' : 'rejection';
      return { name, ...one('unfit', JSON.stringify(command)), by: way, at: place, leaves };
    }

    function hintSent(hint: object): Sent {
      return {
        name,
        ...one('a hint', JSON.stringify(hint)),
        by: 'signal',
        at: place,
        leaves: 'nothing',
      };
    }
  });
}

interface Of {
  readonly name: string;
  readonly row: CommandRow;
  readonly about: About;
}

function weighted({ weight, drafts }: (typeof kinds)[number], { name, row, about }: Of) {
  return { weight, arbitrary: drafts(name, row, about) };
}
