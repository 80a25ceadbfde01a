// Makes every error of an activity non-retryable, so that the server never runs one again by
// itself.

import { failureOf } from './failures.ts';

/** What the worker asks for each activity; the shape of the SDK's ActivityInterceptorsFactory. */
export interface NonRetryableInterceptors {
  readonly inbound: {
    execute<I>(input: I, next: (input: I) => Promise<unknown>): Promise<unknown>;
  };
}

export function nonRetryableInterceptor(): NonRetryableInterceptors {
  return {
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          throw failureOf(error);
        }
      },
    },
  };
}
