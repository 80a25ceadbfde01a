// What the receivers themselves have written down, as rows to count.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf } from '../../core/digest.ts';
import { SUMMARY } from './model-script.ts';
import type { Stage } from './stage.ts';
import type { EffectRow } from './tally.ts';

export async function effectRows(stage: Stage): Promise<readonly EffectRow[]> {
  const tickets = (await stage.tickets.effects()).map(({ key }) => ({
    receiver: 'ticket system',
    key,
    payload: null,
  }));
  const notices = (await stage.notices.sent()).map(({ mail }) => ({
    receiver: 'mail gateway',
    key: null,
    payload: digestOf(mail),
  }));
  return [...tickets, ...notices, ...(await summaryRows(stage.paths.output))];
}

/** A file has no log: it is there, once, or not. */
async function summaryRows(directory: string): Promise<readonly EffectRow[]> {
  try {
    const content = await readFile(join(directory, SUMMARY), 'utf8');
    return [{ receiver: 'file', key: null, payload: digestOf({ path: SUMMARY, content }) }];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
