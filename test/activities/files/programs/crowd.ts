// One of many processes at one JSON file: adds to its count by the file tools, adds to it as a
// shell would, or only reads. Works when it is told to, and says what it did in one line.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFileTool } from '../../../../activities/tools/files/replace-file.ts';
import { readFileTool } from '../../../../activities/tools/read-file.ts';
import { looseAttempt } from '../../../support/loose-attempt.ts';

export type Role = 'adds' | 'adds_plainly' | 'reads';

export interface CrowdSaid {
  /** Additions that were done, or times that the file was read whole. */
  readonly times: number;
  /** How often the tool said so, and another attempt was made on what the file had by then. */
  readonly refused: Readonly<Record<string, number>>;
}

const [role, root = '', path = '', count = '0'] = process.argv.slice(2);
const times = Number(count);
const say = (line: string) => process.stdout.write(`${line}\n`);
const orders = process.stdin[Symbol.asyncIterator]();
const told = () => orders.next();

/** Long enough that nothing is given up because the machine has other work. */
const lockWaitMs = 60_000;
const anotherWasFirst: ReadonlySet<string> = new Set(['conflict', 'already_satisfied']);
const refused: Record<string, number> = {};

const roles: Readonly<Record<Role, () => Promise<number>>> = {
  adds: async () => {
    for (let done = 0; done < times; done++) while (!(await hasAdded()));
    return times;
  },
  /** What it read it holds until it is told to go on, so that everybody has read by then. */
  adds_plainly: async () => {
    const { n } = stateOf(readFileSync(join(root, path), 'utf8'));
    say('HAS READ');
    await told();
    const draft = join(root, `.draft-${process.pid}`);
    writeFileSync(draft, textOf(n + 1));
    renameSync(draft, join(root, path));
    return 1;
  },
  /** An error ends the process. Its pauses leave the others a processor. */
  reads: async () => {
    let [reads, last] = [0, 0];
    const reading = setInterval(() => {
      const { n } = stateOf(readFileSync(join(root, path), 'utf8'));
      if (n < last) throw new Error(`the count went back from ${last} to ${n}`);
      last = n;
      reads += 1;
    }, 1);
    await told();
    clearInterval(reading);
    return reads;
  },
};

/**
 * Reads, adds one and replaces, in an attempt of its own each time. False: another was first, also
 * where it has written the very text that this one would: that is its addition, not ours.
 */
async function hasAdded(): Promise<boolean> {
  const read = await readFileTool({ root }).execute({ path }, looseAttempt());
  if (read.kind !== 'executed') throw new Error(JSON.stringify(read));
  const { text, digest } = read.result;
  const content = textOf(stateOf(text).n + 1);
  const tool = replaceFileTool({ root, lockWaitMs });
  const settled = await tool.execute({ path, content, expect: digest }, looseAttempt());
  if (settled.kind === 'executed') return true;
  if (settled.kind !== 'refused' || !anotherWasFirst.has(settled.code))
    throw new Error(JSON.stringify(settled));
  refused[settled.code] = (refused[settled.code] ?? 0) + 1;
  return false;
}

/** Many bytes around the count: a file that is there in part does not parse. */
function textOf(n: number): string {
  return JSON.stringify({ n, filler: 'x'.repeat(20_000), end: n });
}

function stateOf(text: string): { n: number } {
  const { n, end } = JSON.parse(text) as { n: number; end: number };
  if (n !== end) throw new Error(`half of ${n}, half of ${end}`);
  return { n };
}

say('READY');
await told();
const said: CrowdSaid = { times: await roles[role as Role](), refused };
say(`SAID ${JSON.stringify(said)}`);
process.exit(0);
