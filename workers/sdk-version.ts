import { createRequire } from 'node:module';
import * as z from 'zod';

/** Version of Temporal's SDK in use, e.g. `1.24.0`; all its packages are pinned to the same. */
export const sdkVersion = z
  .object({ version: z.string() })
  .parse(createRequire(import.meta.url)('@temporalio/worker/package.json')).version;
