// holdfast ledger restore: a copy was put in the place of a ledger. Needs no Temporal.

import type { ClientConfig } from '../../core/config.ts';
import { bumpIncarnation } from '../../ledger/index.ts';
import { ClientError } from '../errors.ts';
import type { CommandOutput } from './command.ts';

/** Throws ClientError `ledger_needed`, and LedgerError as it comes from the ledger. */
export async function ledgerRestore({ ledger }: ClientConfig): Promise<CommandOutput> {
  if (ledger === null)
    throw new ClientError('ledger_needed', 'name the restored ledger: --ledger <url>');
  const identity = await bumpIncarnation(ledger.path);
  return {
    json: { ledger: identity },
    lines: [
      `ledger ${identity.id} is incarnation ${identity.incarnation} from now on`,
      'runs that were opened before do nothing more: what they did after the copy was made is not',
      'in it, so none of their actions counts as not submitted; look at their receivers',
    ],
    exit: 'ok',
  };
}
