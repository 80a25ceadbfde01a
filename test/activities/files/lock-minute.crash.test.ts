// The minute itself: a holder that is stopped in the middle of its work. Would catch any age,
// however it is counted, at which a lock is taken from who has it.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replaceFileTool } from '../../../activities/tools/files/replace-file.ts';
import { digestOfBytes } from '../../../core/digest.ts';
import { looseAttempt } from '../../support/loose-attempt.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { startHolder, TARGET, WITHIN_MS, waitForLock } from './lock-holder.ts';

const MINUTE_MS = 60_000;
const OLD = 'the old content\n';

test('C10 a holder that is stopped for a minute keeps its lock, and goes on with it', async () => {
  const root = tempDir();
  writeFileSync(join(root, TARGET), OLD);
  const holder = await startHolder(root);
  await holder.line('HELD', WITHIN_MS);
  holder.freeze();
  const tool = replaceFileTool({ root, lockWaitMs: MINUTE_MS, network: 'allow' });
  const input = { path: TARGET, content: 'new', expect: digestOfBytes(Buffer.from(OLD)) };
  expect(await tool.execute(input, looseAttempt())).toMatchObject({
    kind: 'not_taken',
    code: 'locked',
  });
  expect(readFileSync(join(root, TARGET), 'utf8')).toBe(OLD);
  holder.thaw();
  expect(await waitForLock(root, { waitMs: 200 })).toMatchObject({ code: 'locked' });
  holder.tell('go on');
  expect(await holder.line('OUTCOME ', WITHIN_MS)).toBe('{"kind":"held"}');
  expect(await tool.execute(input, looseAttempt())).toMatchObject({ kind: 'executed' });
});
