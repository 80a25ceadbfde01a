// What others may use of this room.

export type {
  Answer,
  AnswerKind,
  Belonging,
  Closing,
  Executed,
  Fencing,
  Inquiry,
  Rejected,
} from './answer.ts';
export type { Arrival, ArrivalKind } from './arrivals.ts';
export { type DumbReceiver, openDumbReceiver, type Sent } from './dumb.ts';
export type { Effect } from './effects.ts';
export { type Fault, type FaultKind, faultKinds, faultSchema } from './fault.ts';
export { type FaultOptions, type FaultWrapper, withFaults } from './faults.ts';
export { type Forgetting, openForgetting } from './forgetting.ts';
export { receiverHandler } from './http.ts';
export type { Asker, FenceRequest } from './inquiry.ts';
export { receiverLimits } from './limits.ts';
export type {
  Applied,
  Dialect,
  EffectContext,
  EffectTx,
  ForeignContext,
  ForeignOperation,
  LocalOperation,
  Operation,
  Operations,
  Rejection,
  SqlRow,
  SqlValue,
  TableWords,
} from './operation.ts';
export { type ExampleOptions, exampleOperations } from './operations.ts';
export type {
  Intent,
  IntentEvent,
  IntentRecord,
  IntentState,
  MaySend,
  OutboxReceiver,
  OutboxStore,
  Sending,
  SendOutcome,
} from './outbox/intent.ts';
export { type Outbox, type OutboxOptions, openOutbox } from './outbox/outbox.ts';
export type { Decision, Resolved } from './outbox/resolution.ts';
export { NotSentError, type Step } from './outbox/sender.ts';
export { openStore, type SqlitePlace, type StorePlace } from './place.ts';
export type { PostgresPlace } from './postgres-store.ts';
export { type HttpAnswer, problemTable } from './problem.ts';
export {
  type Capabilities,
  openReceiver,
  type Receiver,
  type ReceiverOptions,
  type ReceiverSettings,
} from './receiver.ts';
export type { Identity, OperationRequest } from './request.ts';
export type { Committed, Store, StoreSettings } from './store.ts';
export { type Handler, type HttpCall, listenerOf, type Served, serve } from './transport.ts';
export { type Situation, type Verdict, verdictOf, verdicts } from './verdict.ts';
export {
  decodeKeyHeader,
  encodeHeaderText,
  encodeKeyHeader,
  headerNames,
  parseSendToken,
  sendTokenText,
} from './wire.ts';
