// Tells what a replayed workflow decides. Temporal compares kinds of commands and ids; it does not
// see that an activity would be asked for something else, or that a run would end differently.

import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { proxySinks, type Sinks } from '@temporalio/workflow';

/** An activity or child that is scheduled, with its arguments. */
export interface Decision {
  readonly type: string;
  readonly args: readonly unknown[];
}

export interface Telling extends Sinks {
  readonly told: { decision(decision: Decision): void; result(result: unknown): void };
}

const { told } = proxySinks<Telling>();

export const interceptors: WorkflowInterceptorsFactory = () => ({
  inbound: [
    {
      async execute(input, next) {
        const result = await next(input);
        told.result(result);
        return result;
      },
    },
  ],
  outbound: [
    {
      scheduleActivity(input, next) {
        told.decision({ type: input.activityType, args: input.args });
        return next(input);
      },
      startChildWorkflowExecution(input, next) {
        told.decision({ type: input.workflowType, args: input.options.args });
        return next(input);
      },
      continueAsNew(input, next) {
        told.result(input.args);
        return next(input);
      },
    },
  ],
});
