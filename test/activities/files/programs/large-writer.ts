// Replaces a file by a large one, in writes that are all short, as a system is free to make them;
// stands still for good once it has written a part of it.

import { writeSync } from 'node:fs';
import { replaceFileTool } from '../../../../activities/tools/files/replace-file.ts';
import { nodeFiles } from '../../../../activities/tools/files/system.ts';
import { looseAttempt } from '../../../support/loose-attempt.ts';

const WRITE_BYTES = 1_048_576;
const [root = '', path = '', expect = '', bytes = '', standAt = '', receiverKey = ''] =
  process.argv.slice(2);

const files: typeof nodeFiles = {
  ...nodeFiles,
  async write(file, chunk, position) {
    if (position >= Number(standAt)) {
      writeSync(1, `STANDS ${position}\n`);
      await new Promise(() => undefined);
    }
    return nodeFiles.write(file, chunk.subarray(0, WRITE_BYTES), position);
  },
};
const standing = setInterval(() => undefined, 60_000);
const input = { path, expect, content: 'x'.repeat(Number(bytes)) };
const outcome = await replaceFileTool({ root, files }).execute(
  input,
  looseAttempt({ receiverKey }),
);
clearInterval(standing);
writeSync(1, `OUTCOME ${outcome.kind}\n`);
