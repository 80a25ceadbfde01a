// Every guard that has a mutant.

import { attemptGuards } from './attempt-guards.ts';
import { authorityGuards } from './authority-guards.ts';
import { barrierGuards } from './barrier-guards.ts';
import { commandGuards } from './command-guards.ts';
import { consumesGuards } from './consumes-guards.ts';
import { contractSuiteGuards } from './contract-suite-guards.ts';
import { gateGuards } from './gate-guards.ts';
import { lateGuards } from './late-guards.ts';
import { lockGuards } from './lock-guards.ts';
import type { Guard } from './mutant.ts';
import { outboxGuards } from './outbox-guards.ts';
import { preparedGuards } from './prepared-guards.ts';
import { receiverGuards } from './receiver-guards.ts';
import { runGuards } from './run-guards.ts';
import { settlementGuards } from './settlement-guards.ts';
import { traceGuards } from './trace-guards.ts';
import { unknownGuards } from './unknown-guards.ts';

export const guards: readonly Guard[] = [
  ...gateGuards,
  ...barrierGuards,
  ...consumesGuards,
  ...attemptGuards,
  ...settlementGuards,
  ...runGuards,
  ...authorityGuards,
  ...lateGuards,
  ...commandGuards,
  ...unknownGuards,
  ...contractSuiteGuards,
  ...outboxGuards,
  ...preparedGuards,
  ...receiverGuards,
  ...lockGuards,
  ...traceGuards,
];
