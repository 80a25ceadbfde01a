// What is wrong with the liars of the zoo, where it takes more than a line.

import type { AnyTool } from '../../activities/index.ts';
import { type Answer, type Books, type Call, type Habits, honest, pause } from './zoo.ts';
import { sendThing, settled } from './zoo-tool.ts';

const HOUR_MS = 3_600_000;
const GAP_MS = 30;
const LAG_LOOKS = 3;

/** Effect and record, with time between them or before them. */
export const lateRecord: Partial<Habits> = {
  async carryOut(effect, record) {
    effect();
    await pause(GAP_MS);
    record();
  },
};

export const earlyRecord: Partial<Habits> = {
  async carryOut(effect, record) {
    record();
    await pause(GAP_MS);
    effect();
  },
};

/** The change comes once a fence was raised, if one is within this long. */
const FENCE_WITHIN_MS = 300;

export const lateChange: Partial<Habits> = {
  async carryOut(effect, record, { fences }) {
    const raised = () => [...fences].join();
    const before = raised();
    for (let waited = 0; waited < FENCE_WITHIN_MS && raised() === before; waited += GAP_MS)
      await pause(GAP_MS);
    effect();
    record();
  },
};

export function forget(kept: Map<string, { readonly at: number }>, now: number): void {
  for (const [identity, { at }] of kept) if (now - at > HOUR_MS) kept.delete(identity);
}

export function shut({ closings, now }: Books, identity: string): Answer {
  closings.set(identity, { through: null, at: now });
  return { state: 'closed' };
}

/** The first looks at a record miss it. */
export function lagging(): Partial<Habits> {
  const missed = new Map<string, number>();
  return {
    look(books, identity, call) {
      const known = honest.look(books, identity, call);
      const times = missed.get(identity) ?? 0;
      if (known?.state !== 'executed' || times === LAG_LOOKS) return known;
      missed.set(identity, times + 1);
      return null;
    },
  };
}

/** It marks its answer; only an adapter that does not look is taken in. */
export function executeKeyless(books: Books, { payload }: Call): Answer {
  books.effects.push(payload);
  return { state: 'executed', id: `keyless-${books.effects.length}`, keyed: false };
}

export function credulous(tool: AnyTool, baseUrl: string): AnyTool {
  return {
    ...tool,
    async execute(input, attempt) {
      const answer = await sendThing(baseUrl, input, attempt);
      if (answer.state === 'executed')
        return { kind: 'executed', result: null, externalId: String(answer['id']) };
      return settled(answer);
    },
  };
}

export function hasty(tool: AnyTool): AnyTool {
  return {
    ...tool,
    async inquire(inquiry) {
      const answer = await tool.inquire?.(inquiry);
      return answer === undefined || answer.verdict === 'no_record'
        ? { verdict: 'not_executed', proof: 'settled' }
        : answer;
    },
  };
}
