// What must not reach the SDK as it came. Signals are taken by the server from whoever may send
// them, and two kinds make the SDK fail the workflow task for ever: names it keeps for itself, and
// more arguments than a call takes. Part of every bundle, beside the payload converter.

import { type WorkflowInterceptorsFactory, workflowInfo } from '@temporalio/workflow';
import { limits } from '../core/limits.ts';
import { AGENT_RUN, UNKNOWN_ACTION } from './messages.ts';

/** Of the SDK: it throws where such a signal would go to a default handler. */
const RESERVED = '__temporal_';
/** The one such signal that a package of the SDK takes; never in the workflows of this package. */
const TAKEN = '__temporal_workflow_stream_publish';

export const interceptors: WorkflowInterceptorsFactory = () => ({
  internals: [
    {
      activate(input, next) {
        for (const { signalWorkflow, doUpdate } of input.activation.jobs ?? []) {
          if (signalWorkflow != null) {
            if (isRefused(signalWorkflow.signalName ?? ''))
              signalWorkflow.signalName = `reserved ${signalWorkflow.signalName}`;
            cut(signalWorkflow.input);
          }
          cut(doUpdate?.input);
        }
        next(input);
      },
    },
  ],
});

function isRefused(name: string): boolean {
  if (!name.startsWith(RESERVED)) return false;
  return name !== TAKEN || [AGENT_RUN, UNKNOWN_ACTION].includes(workflowInfo().workflowType);
}

/** Every argument is decoded and goes on the stack, before any handler sees the first. */
function cut(payloads: unknown[] | null | undefined): void {
  if (payloads != null && payloads.length > limits.argumentsMax)
    payloads.length = limits.argumentsMax;
}
