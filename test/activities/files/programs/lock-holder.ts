// Asks for the lock of a target, says HELD or the outcome, and has it until it is told to go on.

import { once } from 'node:events';
import { withLock } from '../../../../activities/tools/files/lock.ts';
import { atPlace } from '../../../../activities/tools/files/place.ts';
import { nodeFiles } from '../../../../activities/tools/files/system.ts';

const [root = '', path = '', waitMs = '0'] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

say('READY');
const outcome = await atPlace(nodeFiles, { root, path, symlinks: 'refuse' }, (place) => {
  const ask = { waitMs: Number(waitMs), signal: new AbortController().signal };
  return withLock(nodeFiles, place, ask, async () => {
    say('HELD');
    await once(process.stdin, 'data');
    return { kind: 'held' } as const;
  });
});
say(`OUTCOME ${JSON.stringify(outcome)}`);
process.stdin.destroy();
