// The rules of the outbox in Postgres. Catches: two senders that claim the same row.

import { outboxRules } from './outbox.testsuite.ts';
import { outboxUnknownRules } from './outbox-unknown.testsuite.ts';
import { openOnPostgres } from './postgres-place.ts';

outboxRules(openOnPostgres);
outboxUnknownRules(openOnPostgres);
