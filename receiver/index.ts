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
export type { SqlitePlace, StorePlace } from './place.ts';
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
