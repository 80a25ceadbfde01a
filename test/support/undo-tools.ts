// Tools that undo what others of the cases did: a notice is recalled by another line in the
// gateway's log, a file is put back.

import { readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { defineTool } from '../../activities/index.ts';
import { digestOfBytes } from '../../core/digest.ts';

const recall = z.strictObject({ notice: z.string() });
const removal = z.strictObject({ written: z.string(), path: z.string() });

export function undoTools(gatewayUrl: string, directory: string) {
  return {
    recall_notice: defineTool({
      name: 'recall_notice',
      version: '1',
      description: 'Sends a line that takes back a notice; nobody can ask whether it went out.',
      input: recall,
      compensates: { tools: ['send_notice'], action: ({ notice }) => notice },
      async execute({ notice }, attempt) {
        const subject = `recall of ${attempt.compensates?.receiverKey}`;
        const body = JSON.stringify({ to: 'all', subject, body: notice });
        attempt.beforeSend();
        const response = await fetch(`${gatewayUrl}/send`, { method: 'POST', body });
        if (response.status !== 200) throw new Error(`the gateway answered ${response.status}`);
        return { kind: 'executed', result: { recalled: notice } };
      },
    }),
    remove_file: defineTool({
      name: 'remove_file',
      version: '1',
      description: 'Removes a file that was written before, as it was written.',
      input: removal,
      // A condition on the object is all that is wanted here.
      approval: 'never',
      compensates: { tools: ['create_file'], action: ({ written }) => written },
      async versions({ path }) {
        return { object: digestOfBytes(await readFile(join(directory, path))) };
      },
      async execute({ path }, attempt) {
        attempt.beforeSend();
        await unlink(join(directory, path));
        return { kind: 'executed', result: { removed: attempt.compensates?.objectVersion ?? '' } };
      },
    }),
  };
}
