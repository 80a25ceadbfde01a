// A heartbeat for the activities without effects, so that a killed worker is noticed soon: they are
// called again, and until then a doubt stays unrecorded and a question unasked. `performAction`
// beats itself, with details that a person reads.

import type { Context } from '@temporalio/activity';
import { limits } from '../core/limits.ts';

export interface HeartbeatInterceptors {
  readonly inbound: {
    execute<I>(input: I, next: (input: I) => Promise<unknown>): Promise<unknown>;
  };
}

export function heartbeatInterceptor(
  context: Pick<Context, 'heartbeat'> & { readonly info: Pick<Context['info'], 'activityType'> },
): HeartbeatInterceptors {
  return {
    inbound: {
      async execute(input, next) {
        if (context.info.activityType === 'performAction') return next(input);
        const everyMs = limits.infraHeartbeatTimeoutMs / limits.beatsPerTimeout;
        const beating = setInterval(() => context.heartbeat(), everyMs);
        try {
          return await next(input);
        } finally {
          clearInterval(beating);
        }
      },
    },
  };
}
