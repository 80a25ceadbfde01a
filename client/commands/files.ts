// holdfast files: whether the files that a run wrote are as it wrote them. Needs no Temporal.

import type { ClientConfig } from '../../core/config.ts';
import { openLedger } from '../../ledger/open.ts';
import { ClientError } from '../errors.ts';
import { fileLines, filesOf, leftDrafts, leftLines } from '../files.ts';
import type { CommandOutput } from './command.ts';

/** Throws ClientError `ledger_needed`, `run_not_found` or `bad_input`. */
export async function files(
  { ledger: place }: ClientConfig,
  runId: string,
  { root }: { readonly root: string },
): Promise<CommandOutput> {
  if (place === null) throw new ClientError('ledger_needed', 'name the ledger: --ledger <url>');
  const ledger = await openLedger(place, { create: false });
  try {
    const run = await ledger.read(runId);
    if (run.head.count === 0)
      throw new ClientError('run_not_found', `run ${runId} is not in this ledger; check the id`);
    const findings = await filesOf(run, root);
    const left = await leftDrafts(run, root);
    const title = `run ${runId}, files below ${root}; read only`;
    return {
      json: { runId, root, files: findings, left },
      lines: [title, ...fileLines(findings), ...leftLines(left)],
      exit: 'ok',
    };
  } finally {
    await ledger.close();
  }
}
