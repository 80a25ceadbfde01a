// Both sides' workflows, in one bundle. The raw one is what is written without Holdfast: a plain
// activity per step, with a key that does not change when the activity is tried again.

import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Addition, RawActivities } from './raw-step.ts';

export { agentRun, unknownAction } from '../workflows/index.ts';

const { rawStep } = proxyActivities<RawActivities>({ startToCloseTimeout: '1 minute' });

export async function rawRun(steps: readonly Addition[]): Promise<number> {
  const { workflowId } = workflowInfo();
  for (const [index, input] of steps.entries())
    await rawStep({ key: `${workflowId}.step-${index + 1}`, input });
  return steps.length;
}
