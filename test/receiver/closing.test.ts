// Catches: "not executed" said of a request that can still run. The rules are in the suite.

import { closingRules } from './closing.testsuite.ts';
import { openOnSqlite } from './sqlite-place.ts';

closingRules(openOnSqlite);
