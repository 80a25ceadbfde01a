// A payload that cannot be decoded must not fail the workflow task, which the server would then
// retry for ever: it becomes a marker that no schema accepts, and is rejected like any malformed
// command. Both worker and bundle must use it (`payloadConverterPath`).

import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';

/** Key of the marker object; its value says why. */
export const UNDECODABLE = 'holdfastUndecodable';

export const payloadConverter: PayloadConverter = {
  toPayload: (value, ...rest) => defaultPayloadConverter.toPayload(value, ...rest),
  /** Never throws. */
  fromPayload<T>(payload: Payload): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch (error) {
      // The marker carries the reason on: whoever parses it says so where a person sees it.
      return { [UNDECODABLE]: String(error) } as T;
    }
  },
};
