// What is true of one file, of its own knowledge: whether ours was published, and taken back; and
// that no version of a bystander went by a call of ours.

import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileMarksOf, isOurs } from '../../activities/tools/files/marks.ts';
import type { Marks } from '../../core/fact-fields.ts';
import type { Watch } from './file-schedule.ts';

/** What may take a version away. */
const changing: ReadonlySet<string> = new Set(['link', 'rename', 'swap', 'unlink', 'truncate']);
const takersBack: ReadonlySet<string> = new Set(['writer', 'asker 1', 'asker 2']);

export class FileTruth implements Watch {
  readonly wrong: string[] = [];
  readonly said: string[] = [];
  /** Versions that bystanders took away themselves, or that were read by whom they are replaced. */
  readonly given = new Set<string>();
  doubted = false;
  prepared: Marks | null = null;
  /** As the ledger has it. */
  ended: 'executed' | 'not_executed' | null = null;
  isTriedAgain = false;
  private readonly root: string;
  private readonly target: string;
  private isPublished = false;
  private had: ReadonlyMap<string, string> = new Map();
  private wasOurs = false;

  constructor(root: string, target: string) {
    this.root = root;
    this.target = target;
  }

  before(_actor: string, call: string): void {
    if (!changing.has(call)) return;
    this.had = this.contents();
    this.wasOurs = this.isOursThere();
  }

  after(actor: string, call: string, args: readonly unknown[]): void {
    if (!changing.has(call)) return;
    const has = this.contents();
    // Without the exchange a change in the last instant is lost, and the guide says so.
    const isPlain = call === 'rename' && basename(String(args[1])) === basename(this.target);
    for (const [version, path] of this.had)
      if (this.isTheirs(version) && !has.has(version) && !isPlain)
        this.wrong.push(`${actor} lost ${version} of ${path} by ${call} ${args.map(String)}`);
    const isOursNow = this.isOursThere();
    if (!this.wasOurs && isOursNow) this.isPublished = true;
    if (this.wasOurs && !isOursNow && call === 'swap' && takersBack.has(actor))
      this.isPublished = false;
  }

  /** What a bystander does to its own versions is no matter of ours. */
  byHand(move: () => void): void {
    const had = this.outside();
    try {
      move();
    } catch {}
    const has = this.outside();
    for (const version of had) if (!has.has(version)) this.given.add(version);
  }

  /** Dropped by the ledger where it has an end already. */
  tells(who: string, verdict: string, detail: string): void {
    if (this.ended !== null) return;
    this.said.push(verdict);
    if (verdict === 'executed' || verdict === 'not_executed') this.ended = verdict;
    this.check(who, detail);
    const kept = /kept as "([^"]+)"/.exec(detail)?.[1];
    // Of one that is to be put back it says so only until it is.
    if (kept === undefined || verdict === 'unavailable') return;
    const path = join(this.target, '..', kept);
    if (!existsSync(path)) this.wrong.push(`${who} names ${kept}, which is not there`);
  }

  ruled(): void {
    this.ended ??= this.isPublished ? 'executed' : 'not_executed';
  }

  /** What was said has to stay true. */
  close(): void {
    this.check('the ledger', 'in the end');
  }

  private check(who: string, detail: string): void {
    const isRight = this.ended === null || (this.ended === 'executed') === this.isPublished;
    if (!isRight) this.wrong.push(`${who} says ${this.ended}: ${detail}`);
  }

  private isTheirs(version: string): boolean {
    return version.startsWith('theirs') && !this.given.has(version);
  }

  private isOursThere(): boolean {
    if (this.prepared === null || !existsSync(this.target)) return false;
    return isOurs(lstatSync(this.target, { bigint: true }), fileMarksOf(this.prepared));
  }

  private outside(): ReadonlySet<string> {
    const all = [...this.contents()].filter(([, path]) => !path.includes('/.holdfast-'));
    return new Set(all.map(([version]) => version));
  }

  /** Paths by content. */
  private contents(at = this.root): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const name of readdirSync(at)) {
      const path = join(at, name);
      const status = lstatSync(path);
      if (status.isFile()) found.set(readFileSync(path, 'utf8'), path);
      if (status.isDirectory()) for (const each of this.contents(path)) found.set(...each);
    }
    return found;
  }
}
