// Catches: somebody let in between, and a half of an effect that stays. The rules are in the suite.

import { effectRules } from './effects.testsuite.ts';
import { openOnSqlite } from './sqlite-place.ts';

effectRules(openOnSqlite);
