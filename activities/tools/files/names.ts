// The names that we give to files of our own beside a target. All begin alike, so that no target
// can have one; all have a length that does not depend on the target's name. None is made of a
// process id: two containers have the same ones.

import { createHash } from 'node:crypto';

/** A target's name never begins with it. */
export const ownPrefix = '.holdfast-';

/** Compared as a file system that ignores case would. */
export function isOwnName(name: string): boolean {
  return folded(name).startsWith(ownPrefix);
}

/** One text for all that some file system takes for one name; of other names it may be one, too. */
function folded(name: string): string {
  const seen = name.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  return seen.toUpperCase().toLowerCase().normalize('NFKC');
}

export interface DraftName {
  /** Of the receiver key: the same for every attempt of the action. */
  readonly key: string;
  readonly number: number;
  readonly random: string;
  /**
   * `withdrawn`: by an inquiry, so that its writer cannot publish it any more; `touched`: the same,
   * of one that had been linked or changed before.
   */
  readonly state: 'draft' | 'withdrawn' | 'touched';
}

/** `random`: 8 hex digits, drawn for each draft. */
export function draftName(receiverKey: string, number: number, random: string): string {
  return `${draftPrefix(receiverKey)}${number}-${random}.draft`;
}

/** What the drafts of all attempts of one action begin with. */
export function draftPrefix(receiverKey: string): string {
  return `${ownPrefix}${shortDigest(receiverKey)}-`;
}

export function withdrawnName(draft: string): string {
  return draft.replace(/\.draft$/, '.withdrawn');
}

export function touchedName(draft: string): string {
  return draft.replace(/\.draft$/, '.touched');
}

/** Of another's change that was displaced: no draft's name, so that nobody cleans it away. */
export function keptName(draft: string): string {
  return draft.replace(/\.draft$/, '.kept');
}

const draftPattern = /^([0-9a-f]{24})-([1-9]\d{0,8})-([0-9a-f]{8})\.(draft|withdrawn|touched)$/;

/** Null: no draft's name. */
export function parseDraftName(name: string): DraftName | null {
  const parts = name.startsWith(ownPrefix) && draftPattern.exec(name.slice(ownPrefix.length));
  if (!parts) return null;
  const [, key = '', number, random = '', state] = parts;
  return { key, number: Number(number), random, state: state as DraftName['state'] };
}

/**
 * One for each target, and one for all spellings that a file system may take for the same name.
 * What it contains means nothing, and it is never removed.
 */
export function lockName(targetName: string): string {
  return `${ownPrefix}${shortDigest(folded(targetName))}.lock`;
}

function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
