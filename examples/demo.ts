// `npm run demo`: the support desk, or with --payments, --mail or --jobs one receiver of another
// kind, a run that crashes there, and the receiver's own count. Options of these three: --keep,
// --server <host:port>. Exits with 1 unless every action had one effect.

import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { jobStory } from './jobs/story.ts';
import { mailStory } from './mail/story.ts';
import { paymentStory } from './payments/story.ts';
import type { StoryStage } from './stories/stage.ts';
import type { Story } from './stories/story.ts';
import { countedLines, isOnceEach, tellStory } from './stories/tell.ts';
import { clientCommand } from './support-desk/answering.ts';

const stories = { '--payments': paymentStory, '--mail': mailStory, '--jobs': jobStory } as const;

const story = Object.entries(stories).find(([flag]) => process.argv.includes(flag))?.[1];
if (story === undefined) await import('./support-desk/demo.ts');
else process.exit(await played(story));

async function played(story: Story): Promise<number> {
  const flag = { type: 'boolean', default: false } as const;
  const options = { [story.cast.name]: flag, keep: flag, server: { type: 'string' } } as const;
  const { values } = parseArgs({ options });
  const begun = Date.now();
  const say = (line: string) =>
    console.log(`${((Date.now() - begun) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
  // What was started dies with this process.
  const leave = () => process.exit(1);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, leave);
  try {
    const counted = await tellStory(story, {
      existing: typeof values.server === 'string' ? values.server : null,
      say,
      async afterwards(stage) {
        if (values['keep'] !== true) return;
        process.off('SIGINT', leave);
        await kept(stage, say);
      },
    });
    console.log(`\n${countedLines(counted)}`);
    return isOnceEach(counted) ? 0 : 1;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

async function kept(stage: StoryStage, say: (line: string) => void): Promise<void> {
  say(`still up until Ctrl-C: Web UI ${stage.temporal.uiUrl ?? 'of that server'}`);
  say(`ask the run: ${clientCommand(stage, `state ${stage.runId}`)}`);
  await once(process, 'SIGINT');
}
