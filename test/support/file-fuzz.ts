// One writer, those who ask what became of it, another writer and a bystander at one file, in an
// order drawn from a seed; and what is true of it, kept apart from what any of them says.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Attempt, type Inquiry, NotSentError } from '../../activities/tool.ts';
import { createFileTool } from '../../activities/tools/files/create-file.ts';
import { replaceFileTool } from '../../activities/tools/files/replace-file.ts';
import type { FileSystem } from '../../activities/tools/files/system.ts';
import type { Marks } from '../../core/fact-fields.ts';
import { bystanderMoves } from './file-bystander.ts';
import { quick } from './file-scene.ts';
import { type Actor, Schedule } from './file-schedule.ts';
import { FileTruth } from './file-truth.ts';
import { digestOfText } from './file-writes.ts';
import { looseAttempt } from './loose-attempt.ts';
import { randomFrom } from './random.ts';

const OLD = 'old';
const MOVES_MAX = 9;
const STEPS_MAX = 600;
const ways = ['link', 'swap', 'swap', 'rename_for_want', 'rename'] as const;
type Way = (typeof ways)[number];

/** The calls that a race is about: others are let in right before and after them. */
const ticklish = /^(swap|link|rename|unlink|truncate)/;
const publishing = /^(swap|link|rename) \S+ f\.txt$/;

export interface Played {
  /** What was untrue, or lost. Empty: nothing. */
  readonly wrong: readonly string[];
  readonly said: readonly string[];
  readonly trace: readonly string[];
}

interface Stage {
  readonly way: Way;
  readonly root: string;
  readonly target: string;
  readonly receiverKey: string;
  readonly random: () => number;
  readonly pick: <T>(from: readonly T[]) => T;
  readonly truth: FileTruth;
  readonly schedule: Schedule;
}

export async function playFiles(seed: number, base: string): Promise<Played> {
  const random = randomFrom(seed);
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const way = pick(ways);
  const root = mkdtempSync(join(base, 'fuzz-'));
  const target = join(root, 'a/f.txt');
  mkdirSync(join(root, 'a'));
  if (way !== 'link') writeFileSync(target, OLD);
  const truth = new FileTruth(root, target);
  const schedule = new Schedule(portOf(way), truth);
  const stage = { way, root, target, random, pick, truth, schedule, receiverKey: `fuzz/${seed}` };
  castOf(stage);
  await run(stage);
  truth.close();
  rmSync(root, { recursive: true, force: true });
  return { wrong: truth.wrong, said: truth.said, trace: [way, ...schedule.trace] };
}

function portOf(way: Way): FileSystem {
  if (way === 'rename') return { ...quick, addonMissing: () => 'not installed' };
  if (way !== 'rename_for_want') return quick;
  const none = Object.assign(new Error('EINVAL'), { code: 'EINVAL' });
  return { ...quick, swap: () => Promise.reject(none) };
}

function castOf(stage: Stage): void {
  const { schedule, random } = stage;
  schedule.actor('writer', (actor) => writes(stage, actor));
  schedule.actor('bystander', (actor) => meddles(stage, actor));
  if (stage.way !== 'rename' && random() < 0.3)
    schedule.actor('other', (actor) => replaces(stage, actor));
  schedule.actor('asker 1', (actor) => asks(stage, actor));
  if (random() < 0.5) schedule.actor('asker 2', (actor) => asks(stage, actor));
}

function toolOf({ way, root }: Stage, { files }: Actor): ReturnType<typeof replaceFileTool> {
  const options = { root, files, lockWaitMs: 0 };
  if (way !== 'link') return replaceFileTool({ ...options, withoutLock: true });
  return createFileTool(options) as unknown as ReturnType<typeof replaceFileTool>;
}

function inputOf({ way }: Stage, content: string, was: string) {
  const expect = way === 'link' ? {} : { expect: digestOfText(was) };
  return { path: 'a/f.txt', content, ...expect } as Parameters<
    ReturnType<typeof replaceFileTool>['execute']
  >[0];
}

async function writes(stage: Stage, actor: Actor): Promise<void> {
  const { truth, receiverKey } = stage;
  const attempt: Partial<Attempt> = {
    receiverKey,
    prepare: (marks) =>
      actor.turn('prepare', () => {
        if (truth.doubted || truth.ended !== null) throw new NotSentError('asked about');
        truth.prepared = marks;
      }),
  };
  const input = inputOf(stage, 'NEW', OLD);
  const { kind } = await toolOf(stage, actor).execute(input, looseAttempt(attempt));
  await actor.turn(`settles ${kind}`, () =>
    truth.tells('the writer', kind === 'executed' ? 'executed' : 'not_executed', ''),
  );
}

async function asks(stage: Stage, actor: Actor): Promise<void> {
  const { truth } = stage;
  for (let questions = 0; questions < 3 && truth.ended === null; questions++) {
    const prepared = await actor.turn('doubts', () => {
      truth.doubted = true;
      return truth.prepared;
    });
    if (truth.ended !== null) break;
    const answer = await toolOf(stage, actor).inquire?.(inquiryOf(stage, prepared));
    const detail = answer !== undefined && 'detail' in answer ? String(answer.detail) : '';
    await actor.turn(`says ${answer?.verdict}: ${detail}`, () =>
      truth.tells(actor.name, answer?.verdict ?? 'nothing', detail),
    );
    if (answer?.verdict === 'conflict') await actor.turn('a person rules', () => truth.ruled());
  }
  if (truth.ended === 'not_executed') await goesOn(stage, actor);
}

function inquiryOf({ receiverKey, way }: Stage, prepared: Marks | null): Inquiry {
  const sendToken = { epoch: 1, number: 1 };
  const open = [{ attemptId: 'a1', number: 1, sendToken, enteredAt: 0, prepared }];
  const input = { path: 'a/f.txt', content: 'NEW', way };
  return { input, receiverKey, open } as unknown as Inquiry;
}

/** The next attempt clears away what the first left, and replaces what it has read. */
async function goesOn(stage: Stage, actor: Actor): Promise<void> {
  if (stage.truth.isTriedAgain) return;
  stage.truth.isTriedAgain = true;
  const was = await actor.turn('reads', () => readFor(stage));
  const attempt = looseAttempt({ receiverKey: stage.receiverKey, number: 2 });
  await toolOf(stage, actor).execute(inputOf(stage, 'NEW2', was), attempt);
}

async function replaces(stage: Stage, actor: Actor): Promise<void> {
  const was = await actor.turn('reads', () => readFor(stage));
  const tool = replaceFileTool({ root: stage.root, files: actor.files, lockWaitMs: 0 });
  const input = { path: 'a/f.txt', content: 'another', expect: digestOfText(was) };
  await tool.execute(input, looseAttempt());
}

/** Who has read a version may replace it. */
function readFor({ target, truth }: Stage): string {
  if (!existsSync(target) || !lstatSync(target).isFile()) return '';
  const found = readFileSync(target, 'utf8');
  truth.given.add(found);
  return found;
}

async function meddles({ target, random, pick, truth }: Stage, actor: Actor): Promise<void> {
  const moves = bystanderMoves(target, pick);
  const count = Math.floor(random() * MOVES_MAX);
  for (let done = 0; done < count; done++) {
    const [name, move] = pick(moves);
    await actor.turn(name, () => truth.byHand(move));
  }
}

/** The writer comes some way alone; then all, in bursts; some stand for ever, some are killed. */
async function run(stage: Stage): Promise<void> {
  const { schedule, random, pick } = stage;
  for (const name of schedule.cast()) await schedule.settle(name);
  if (random() < 0.7) await toPublication(stage);
  else for (let steps = random() * 60; steps > 0; steps--) await schedule.step('writer');
  const switches = pick([0.1, 0.3, 0.6]);
  const stands = random() < 0.3;
  const killed = [
    ['writer', random() < 0.4 ? Math.floor(random() * random() * 40) : Infinity],
    ['asker 2', random() < 0.4 ? Math.floor(random() * 100) : Infinity],
  ] as const;
  let [current, last] = [pick(schedule.cast()), ''];
  for (let step = 0; step < STEPS_MAX; step++) {
    for (const [name, at] of killed) if (step === at) await schedule.kill(name);
    const waiting = schedule.waitingNames();
    const moving = waiting.filter((name) => !(stands && name === 'writer'));
    const names = moving.length > 0 ? moving : waiting;
    if (names.length === 0) return;
    const next = schedule.next(current);
    const isTicklish = ticklish.test(next) || ticklish.test(last);
    last = next;
    if (isTicklish && random() < 0.4) current = pick(names);
    else if (!names.includes(current) || random() < switches) current = pick(names);
    await schedule.step(current);
  }
}

/** Somebody meets the file in the last instant before it is published. */
async function toPublication({ schedule, random }: Stage): Promise<void> {
  const isNext = () => publishing.test(schedule.next('writer'));
  while (!isNext() && schedule.next('writer') !== '') await schedule.step('writer');
  for (let moves = Math.floor(random() * 3); moves > 0; moves--) await schedule.step('bystander');
  if (random() < 0.7) await schedule.step('writer');
}
