import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { genesisHead, sealFact } from '../../core/chain.ts';
import type { Head } from '../../core/facts.ts';
import { exportRun, readExport } from '../../ledger/export.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { newPlace } from './places.ts';

const runId = 'invoice-42';
/** Every character that some line reader breaks at, raw in the JSON text. */
const separators = 'a\u2028b\u2029c\u0085d\u000be\u000cf\r\ng';

function linesOf(names: readonly string[]): { lines: Uint8Array[]; head: Head } {
  let head = genesisHead(runId);
  const lines = names.map((name, index) => {
    const body = { kind: 'command_rejected', commandId: null, name, why: separators } as const;
    const sealed = sealFact({ runId, head, at: index, fact: { source: 'human', body } });
    head = sealed.head;
    return Buffer.from(`${sealed.text}\n`);
  });
  return { lines, head };
}

const { lines, head } = linesOf(['a', 'b', 'c']);
const [first, second, third] = lines as [Uint8Array, Uint8Array, Uint8Array];
const whole = Buffer.concat(lines);
const read = (bytes: Uint8Array, at: Head | null = head) => readExport({ runId, bytes, head: at });

describe('R-072 JSON lines', () => {
  test('R-072 a line ends at byte 0x0A only; other separators stay inside their string', () => {
    expect(whole.includes('\u2028')).toBe(true);
    const reading = read(whole);
    expect(reading).toMatchObject({ kind: 'whole', head });
    const facts = reading.kind === 'whole' ? reading.facts : [];
    expect(facts.map((fact) => fact.body)).toEqual(
      ['a', 'b', 'c'].map((name) => expect.objectContaining({ name, why: separators })),
    );
  });

  test('R-072 what a ledger exports is what it holds, byte for byte', async () => {
    const ledger = await openSqliteLedger({ path: await newPlace(), create: true });
    const facts = Array.from({ length: 700 }, (_, index) => ({
      source: 'human' as const,
      body: {
        kind: 'command_rejected' as const,
        commandId: null,
        name: `n${index}`,
        why: separators,
      },
    }));
    const committed = await ledger.transact({ runId }, () => ({ reply: null, facts }));
    const chunks: Uint8Array[] = [];
    for await (const line of exportRun(ledger, runId)) chunks.push(line);
    expect(chunks).toHaveLength(700);
    expect(read(Buffer.concat(chunks), committed.head)).toMatchObject({
      kind: 'whole',
      head: committed.head,
    });
    await ledger.close();
  });
});

describe('R-070 a torn tail', () => {
  test('R-070 a last line without its line feed is set aside as it is, even if it parses', () => {
    const torn = read(whole.subarray(0, -1));
    expect(torn).toMatchObject({ kind: 'torn_tail', missing: 1, head: { count: 2 } });
    const tail = torn.kind === 'torn_tail' ? Buffer.from(torn.tail) : null;
    expect(tail).toEqual(Buffer.from(third.subarray(0, -1)));
  });

  test('R-070 E.2 every truncation is a torn tail, or lacks facts by its head', () => {
    fc.assert(
      fc.property(fc.nat(whole.length - 1), (length) => {
        const bytes = whole.subarray(0, length);
        const count = bytes.filter((byte) => byte === 0x0a).length;
        const atLineEnd = length === 0 || bytes[length - 1] === 0x0a;
        const want = atLineEnd
          ? { kind: 'damaged', problem: { fault: 'tail_dropped', seq: count + 1 } }
          : { kind: 'torn_tail', missing: 3 - count, head: { count } };
        expect(read(bytes)).toMatchObject(want);
        const blind = atLineEnd ? { kind: 'whole' } : { kind: 'torn_tail', missing: null };
        expect(read(bytes, null)).toMatchObject({ ...blind, head: { count } });
      }),
    );
  });
});

describe('R-071 other damage is no torn tail', () => {
  const edited = Buffer.from(second).map((byte, index) => (index === 40 ? byte ^ 1 : byte));
  test.each<[string, Uint8Array[], string, number]>([
    ['a line in the middle is cut', [first, second.subarray(0, 30), third], 'unreadable', 2],
    ['a line is missing', [first, third], 'gap', 2],
    ['a line is there twice', [first, second, second, third], 'duplicated', 2],
    ['two lines changed places', [first, third, second], 'reordered', 2],
    [
      'a line ends in CR LF',
      [first, second, third.subarray(0, -1), Buffer.from('\r\n')],
      'edited',
      3,
    ],
    ['bytes are no UTF-8', [first, Buffer.from([0xff, 0x0a]), third], 'unreadable', 2],
    ['a byte order mark stands first', [Buffer.from('\ufeff'), whole], 'unreadable', 1],
    ['an empty line stands between', [first, Buffer.from('\n'), second, third], 'unreadable', 2],
    ['a torn line follows all that the head counts', [whole, Buffer.from('{')], 'beyond_head', 4],
    ['damage stands before a torn tail', [edited, third.subarray(0, 9)], 'unreadable', 1],
  ])('R-071 %s: it stops there', (_, parts, fault, seq) => {
    const bytes = Buffer.concat(parts);
    const before = Buffer.from(bytes);
    expect(read(bytes)).toMatchObject({ kind: 'damaged', problem: { fault, seq } });
    expect(bytes).toEqual(before);
  });

  test('R-071 a last line in another form is found without a head, too', () => {
    const spaced = Buffer.concat([first, second, Buffer.from(' '), third]);
    expect(read(spaced, null)).toMatchObject({
      kind: 'damaged',
      problem: { fault: 'edited', seq: 3 },
    });
  });
});
