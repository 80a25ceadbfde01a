// Would catch: a large write that goes to the target itself, or to a draft which stays for good.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Inquiry } from '../../../activities/tool.ts';
import { replaceFileTool } from '../../../activities/tools/files/replace-file.ts';
import { digestOfBytes } from '../../../core/digest.ts';
import { startChild } from '../../../examples/support-desk/child.ts';
import { builtProgram } from '../../support/built-program.ts';
import { tempDir } from '../../support/temp-dir.ts';

const WITHIN_MS = 60_000;
const OLD = 'the old content\n';
const BYTES = 50_000_000;
const receiverKey = 'shop/default/large.t1.c1';

test.each([10, 50, 90])(
  'K-106 killed at %i percent of 50 MB: old bytes, not done, no draft once it is asked about',
  async (percent) => {
    const root = tempDir();
    writeFileSync(join(root, 'f.txt'), OLD);
    const digest = digestOfBytes(Buffer.from(OLD));
    const standAt = (BYTES * percent) / 100;
    const program = await builtProgram('test/activities/files/programs/large-writer.ts');
    const child = await startChild({
      script: [program, root, 'f.txt', digest, String(BYTES), String(standAt), receiverKey],
      logPath: join(tempDir(), 'writer.log'),
    });
    expect(Number(await child.line('STANDS ', WITHIN_MS))).toBeGreaterThanOrEqual(standAt);
    await child.kill();
    const [draft = ''] = readdirSync(root).filter((name) => name.endsWith('.draft'));
    expect(statSync(join(root, draft)).size).toBeGreaterThanOrEqual(standAt);
    expect(readFileSync(join(root, 'f.txt'), 'utf8')).toBe(OLD);

    const { inquire } = replaceFileTool({ root });
    const open = [{ number: 1, prepared: null }];
    const inquiry = { input: { path: 'f.txt' }, receiverKey, open } as unknown as Inquiry;
    expect(await inquire?.(inquiry)).toMatchObject({ verdict: 'not_executed' });
    expect(readdirSync(root).filter((name) => !name.endsWith('.lock'))).toEqual(['f.txt']);
    expect(readFileSync(join(root, 'f.txt'), 'utf8')).toBe(OLD);
  },
);
