// Catches: a page that promises other answers than the receiver gives.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { problemTable } from '../../receiver/index.ts';

const page = readFileSync(new URL('../../docs/receiver.md', import.meta.url), 'utf8');

test('A12 docs/receiver.md has each answer with its status and whether a new key is safe', () => {
  const rows = [...page.matchAll(/^\| ([\d, ]+) \| [^|]+ \| `(\w+)` \| ([^|]+) \|/gm)];
  const told = Object.fromEntries(rows.map(([, status, state, safe]) => [state, [status, safe]]));
  const { closed, ...others } = problemTable;
  expect(told).toEqual({
    executed: ['200, 204', 'no'],
    closed: [String(closed.status), 'only if the whole key'],
    ...Object.fromEntries(
      Object.entries(others).map(([state, { status, safeNewKey }]) => [
        state,
        [String(status), safeNewKey ? 'yes' : 'no'],
      ]),
    ),
  });
});
