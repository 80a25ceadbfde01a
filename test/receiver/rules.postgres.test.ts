// The rules that SQLite keeps, kept by Postgres. Catches: whatever only one writer at a time hid.

import { closingRules } from './closing.testsuite.ts';
import { effectRules } from './effects.testsuite.ts';
import { fenceRules } from './fences.testsuite.ts';
import { foreignRules } from './foreign.testsuite.ts';
import { openOnPostgres } from './postgres-place.ts';
import { requestRules } from './requests.testsuite.ts';
import { retentionRules } from './retention.testsuite.ts';
import { wireRules } from './wire.testsuite.ts';

requestRules(openOnPostgres);
retentionRules(openOnPostgres);
closingRules(openOnPostgres);
effectRules(openOnPostgres);
fenceRules(openOnPostgres);
foreignRules(openOnPostgres);
wireRules(openOnPostgres);
