// The way of one write, the same for a new file and for one that is replaced: place, lock, look,
// draft, marks, look again, publish. What ends before the publication is an outcome, by value, and
// leaves nothing beside the target; what goes wrong in it or after it is thrown, and asked about.
//
// INV-1 Nothing is published before its marks are in the ledger.
// INV-2 Between the look that decides and the publication nobody who takes the lock writes.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Digest, digestOfBytes } from '../../../core/digest.ts';
import { limits } from '../../../core/limits.ts';
import type { Attempt, Settlement } from '../../tool.ts';
import { type Draft, remove, removeEvidence, writeDraft } from './draft.ts';
import { type Unwritten, unwrittenBy } from './errno.ts';
import { worseGround } from './footing.ts';
import { withLock } from './lock.ts';
import { type FileMarks, marksOf } from './marks.ts';
import { withdrawnName } from './names.ts';
import { atPlace, type Place } from './place.ts';
import { publishNew, publishOver } from './publish.ts';
import { refusal, touched } from './refusals.ts';
import { isUntouched, lookAt, type Standing, type Target } from './target.ts';
import type { Publish } from './verdict.ts';
import type { Writer } from './writer.ts';

export type Written = { path: string; bytes: number; digest: Digest };

export interface Content {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

/** `like`: the file that is replaced, or the permissions of a new one. */
export interface Plan {
  readonly kind: 'plan';
  readonly like: Standing | number;
}

/** What stands there, and whether that may become the content. */
export type Judge = (place: Place, target: Target, content: Content) => Promise<Plan | Unwritten>;

export async function write(
  writer: Writer,
  { path, content }: { readonly path: string; readonly content: string },
  attempt: Attempt,
  judge: Judge,
): Promise<Settlement<Written>> {
  if (!content.isWellFormed())
    return refusal('invalid_content', path, 'would get half a character, which is no text');
  const bytes = Buffer.from(content);
  const wanted = { bytes, digest: digestOfBytes(bytes) };
  const { files, footing, lockWaitMs: waitMs } = writer;
  return atPlace(files, { ...writer, path }, async (place) => {
    const worse = await worseGround(files, footing, place).catch((error: unknown) =>
      unwrittenBy(error, place.path),
    );
    if (worse !== null) return worse;
    const body = () => change({ writer, place, attempt, judge, content: wanted });
    if (!footing.locks) return body();
    return withLock(files, place, { waitMs, signal: attempt.signal }, body);
  });
}

interface Change {
  readonly writer: Writer;
  readonly place: Place;
  readonly attempt: Attempt;
  readonly judge: Judge;
  readonly content: Content;
}

async function change(at: Change): Promise<Settlement<Written>> {
  const { place, attempt, content } = at;
  const { files } = at.writer;
  const plan = await judged(at);
  if (plan.kind !== 'plan') return plan;
  const { like } = plan;
  const { receiverKey, number } = attempt;
  const draft = await writeDraft(files, place, { ...content, like, receiverKey, number });
  if (draft.kind !== 'draft') return draft;
  const how = typeof like === 'number' ? 'link' : files.addonMissing() === null ? 'swap' : 'rename';
  const changed = await prepared(at, { like, how, draft });
  const outcome = changed ?? (await published(at, { like, how, draft }));
  if (outcome !== null) {
    await remove(files, place.directory.at(draft.name));
    return outcome;
  }
  const { path } = place;
  const result = { path, bytes: content.bytes.byteLength, digest: content.digest };
  return { kind: 'executed', result, externalId: path, objectVersion: content.digest };
}

/** Throws nothing. */
async function judged({ writer, place, attempt, judge, content }: Change) {
  try {
    await removeEvidence(writer.files, place, attempt);
    return await judge(place, await lookAt(writer.files, place), content);
  } catch (error) {
    return unwrittenBy(error, place.path);
  }
}

interface Preparing {
  readonly like: Plan['like'];
  readonly how: Publish;
  readonly draft: Draft;
}

/** Null: it may be published now. Throws where the attempt may not go on. */
async function prepared(at: Change, preparing: Preparing): Promise<Unwritten | null> {
  const { place, attempt } = at;
  const { files } = at.writer;
  const { like, how, draft } = preparing;
  try {
    await attempt.prepare(marksFor(at, preparing));
    // A link has to leave a mark on the draft's change time, which some kernels count in ticks.
    if (how === 'link') await sleep(limits.fileTickMs);
    const changed = await changedSince(at, like);
    if (changed === null) attempt.beforeSend();
    return changed;
  } catch (error) {
    // The marks may be in the ledger, and an inquiry goes by them: the draft is its evidence.
    const { directory } = place;
    await files
      .rename(directory.at(draft.name), directory.at(withdrawnName(draft.name)))
      .catch(() => undefined);
    throw error;
  }
}

function marksFor({ place, content }: Change, { like, how, draft }: Preparing): FileMarks {
  const { name, path } = place;
  return marksOf(draft.status, {
    draft: `${path.slice(0, path.length - name.length)}${draft.name}`,
    target: path,
    publish: how,
    old: typeof like === 'number' ? 'absent' : like.digest,
    new: content.digest,
  });
}

function published({ writer, place, content }: Change, { like, how, draft }: Preparing) {
  const publication = { place, draft, digest: content.digest };
  if (typeof like === 'number') return publishNew(writer.files, publication);
  return publishOver(writer.files, publication, { how, old: like });
}

async function changedSince(at: Change, like: Plan['like']): Promise<Unwritten | null> {
  const again = await judged(at);
  if (again.kind !== 'plan') return again;
  if (typeof like === 'number' || typeof again.like === 'number') return null;
  return isUntouched(like, again.like) ? null : touched(at.place.path);
}
