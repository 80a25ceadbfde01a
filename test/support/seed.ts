// Setup of every test file: all random choices of a run come from one printed seed.

import { configureGlobal } from 'fast-check';

/** The seed of this run. */
export const seed = Number(process.env['TEST_SEED']);
if (!Number.isSafeInteger(seed)) throw new Error('TEST_SEED must be a whole number');

configureGlobal({ seed });
