// Catches: an intent that is lost, sent though it may not be, or sent twice. The rules are in the
// suites.

import { outboxRules } from './outbox.testsuite.ts';
import { outboxUnknownRules } from './outbox-unknown.testsuite.ts';
import { openOnSqlite } from './sqlite-place.ts';

outboxRules(openOnSqlite);
outboxUnknownRules(openOnSqlite);
