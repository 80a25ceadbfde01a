// Plays one story to its end, and says what its receiver counted.

import { watchFacts } from '../support-desk/progress.ts';
import { openStoryStage, type StoryStage, type StoryStageOptions } from './stage.ts';
import type { Counted, Story } from './story.ts';

/** Throws when it does not come to its end; everything that was started is ended in any case. */
export async function tellStory(
  story: Story,
  options: StoryStageOptions & { readonly afterwards?: (stage: StoryStage) => Promise<void> },
): Promise<readonly Counted[]> {
  const { say } = options;
  say(story.title);
  say('starting a Temporal server and the receiver, each a process of its own');
  const stage = await openStoryStage(story.cast, options);
  const { temporal, ledger, runId } = stage;
  try {
    say(`Temporal at ${temporal.address}; Web UI: ${temporal.uiUrl ?? 'as of that server'}`);
    const watching = watchFacts(ledger, runId, say);
    const counted = await story.play(stage).finally(watching.stop);
    await options.afterwards?.(stage);
    return counted;
  } finally {
    await stage.stop();
  }
}

/** What the receiver itself has written down, a line for each action. */
export function countedLines(counted: readonly Counted[]): string {
  return counted
    .map(
      ({ actionId, effects, settled }) =>
        `${actionId.padEnd(24)}${effectsText(effects)}; ${settled}`,
    )
    .join('\n');
}

function effectsText(effects: number): string {
  return effects === 1 ? '1 effect' : `${effects} EFFECTS`;
}

/** One effect each: none was lost, and none was repeated. */
export function isOnceEach(counted: readonly Counted[]): boolean {
  return counted.length > 0 && counted.every(({ effects }) => effects === 1);
}
