import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { heartbeatInterceptor } from '../../activities/heartbeat.ts';
import { limits } from '../../core/limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Beats that an activity of this type has sent after one whole heartbeat timeout. */
async function beatsOf(activityType: string) {
  const heartbeat = vi.fn();
  const { inbound } = heartbeatInterceptor({ heartbeat, info: { activityType } });
  let finish: () => void = () => undefined;
  const answered = inbound.execute('call', async () => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return 'answer';
  });
  await vi.advanceTimersByTimeAsync(limits.infraHeartbeatTimeoutMs);
  const beats = heartbeat.mock.calls.length;
  finish();
  expect(await answered).toBe('answer');
  await vi.advanceTimersByTimeAsync(limits.infraHeartbeatTimeoutMs);
  expect(heartbeat).toHaveBeenCalledTimes(beats);
  return beats;
}

test('an activity without effects beats while it runs, and no longer', async () => {
  expect(await beatsOf('recordFacts')).toBeGreaterThanOrEqual(3);
});

test('performAction is left to its own heartbeat, whose details a person reads', async () => {
  expect(await beatsOf('performAction')).toBe(0);
});
