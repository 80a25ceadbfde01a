// Catches: an effect of an epoch that was replaced. The rules are in the suite.

import { fenceRules } from './fences.testsuite.ts';
import { openOnSqlite } from './sqlite-place.ts';

fenceRules(openOnSqlite);
