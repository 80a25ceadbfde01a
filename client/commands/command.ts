// What every command gets and gives. Commands print nothing themselves.

import type { HoldfastClient } from '../client.ts';
import type { Exit } from '../exit-codes.ts';

export interface CommandContext {
  readonly client: HoldfastClient;
  /** Bytes of a file; `-` is standard input. Throws ClientError naming the file. */
  read(path: string): Promise<Uint8Array>;
}

export interface CommandOutput {
  /** One object, printed with `--json`. */
  readonly json: object;
  /** Printed without; each entry is one line. */
  readonly lines: readonly string[];
  readonly exit: Exit;
}
