// Catches: an effect behind the receiver that is run twice, or forgotten, for want of a report. The
// rules are in the suite.

import { foreignRules } from './foreign.testsuite.ts';
import { openOnSqlite } from './sqlite-place.ts';

foreignRules(openOnSqlite);
