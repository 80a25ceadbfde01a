// The file tools on a real ledger and a real directory, each process with system calls of its own
// that can be made to die. The truth is what is on the disk.

import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createActivities, createRegistry } from '../../activities/index.ts';
import { createFileTool } from '../../activities/tools/files/create-file.ts';
import { replaceFileTool } from '../../activities/tools/files/replace-file.ts';
import { type FileSystem, nodeFiles } from '../../activities/tools/files/system.ts';
import type { PerformCall } from '../../core/activity-calls.ts';
import { genesisBase } from '../../core/consumes.ts';
import { digestOfBytes } from '../../core/digest.ts';
import { actionIdOf, attemptIdOf } from '../../core/ids.ts';
import { activityRig, defaults, EXECUTION, type Rig } from './activity-rig.ts';
import { type MortalProcess, mortalProcess, type Plan } from './mortal-files.ts';
import { tempDir, triedDir } from './temp-dir.ts';

export const OLD = 'the old content\n';
export const NEW = 'the new content, somewhat longer\n';

export type Work = 'create' | 'replace';

export interface FileAction {
  readonly runId: string;
  readonly actionId: string;
  readonly path: string;
  /** Another attempt of it. */
  call(): PerformCall;
}

export interface FileProcess extends MortalProcess {
  /** Undefined where it died. */
  perform(call: PerformCall): Promise<Performed | undefined>;
  /** As the run asks: what is open is in doubt from then on. Undefined where it died. */
  inquire(action: FileAction): Promise<Inquired | undefined>;
  doubt(call: PerformCall): Promise<void>;
}
type Activities = ReturnType<typeof createActivities>;
export type Performed =
  | Awaited<ReturnType<Activities['performAction']>>
  | { readonly settled?: never; readonly failed: string };
export type Inquired = Awaited<ReturnType<Activities['inquire']>>;

export interface FileRig {
  readonly rig: Rig;
  readonly root: string;
  readonly ledgerPath: string;
  /** In a run of its own, on a file in a directory of its own. */
  action(work: Work): Promise<FileAction>;
  process(plan?: Plan): FileProcess;
  /** Whether the effect is there; throws where neither the old nor the new file is there whole. */
  isPublished(action: FileAction): boolean;
  /** What stands beside the target, with the sizes, without what never tells anything. */
  beside(action: FileAction): string[];
}

const MEMORY = '/dev/shm';

/** In memory where the machine has a place there: each point has several commits. */
function ledgerDirectory(): string {
  if (!existsSync(MEMORY)) return tempDir();
  const directory = mkdtempSync(join(MEMORY, 'holdfast-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

interface Base {
  readonly rig: Rig;
  readonly root: string;
  readonly base: FileSystem;
}

/** `over`: of the system calls, e.g. to have no exchange. */
export async function fileRig(over: Partial<FileSystem> = {}): Promise<FileRig> {
  const root = triedDir();
  const base = { ...nodeFiles, ...over };
  const ledgerPath = join(ledgerDirectory(), 'ledger.db');
  const rig = await activityRig({ tools: toolsOn(root, base), path: ledgerPath });
  const inodeOf = (path: string) =>
    statSync(join(root, path), { bigint: true, throwIfNoEntry: false })?.ino ?? null;
  const olds = new Map<string, bigint | null>();
  return {
    rig,
    root,
    ledgerPath,
    async action(work) {
      const path = `d${olds.size + 1}/f.txt`;
      mkdirSync(join(root, dirname(path)));
      if (work === 'replace') writeFileSync(join(root, path), OLD);
      olds.set(path, inodeOf(path));
      return newAction(rig, { work, path, runId: `files-${olds.size}` });
    },
    process: (plan) => newProcess({ rig, root, base }, plan),
    isPublished({ path }) {
      const inode = inodeOf(path);
      const found = inode === null ? null : readFileSync(join(root, path), 'utf8');
      const before = olds.get(path) ?? null;
      if (inode === before && found === (before === null ? null : OLD)) return false;
      if (inode !== before && found === NEW) return true;
      throw new Error(`${path} is neither the old file nor the new one: ${found}`);
    },
    beside: ({ path }) => {
      const directory = join(root, dirname(path));
      return readdirSync(directory)
        .filter((name) => name !== 'f.txt' && !name.endsWith('.lock'))
        .map((name) => `${extname(name)} ${statSync(join(directory, name)).size}`);
    },
  };
}

function toolsOn(root: string, files: FileSystem) {
  const over = files.addonMissing() === null ? {} : { withoutLock: true as const };
  return {
    create_file: createFileTool({ root, files }),
    replace_file: replaceFileTool({ root, files, ...over }),
  };
}

async function newAction(
  rig: Rig,
  { work, path, runId }: { work: Work; path: string; runId: string },
): Promise<FileAction> {
  const position = 't1.c1';
  const opened = await rig.open({ runId, goal: { kind: 'plan', steps: [] } });
  const actionId = actionIdOf(runId, position);
  const tool = opened.catalog.find(({ binding }) => binding.tool === `${work}_file`);
  if (tool === undefined) throw new Error(`no tool to ${work} a file`);
  const expect = work === 'replace' ? { expect: digestOfBytes(Buffer.from(OLD)) } : {};
  const input = { kind: 'inline', value: { path, content: NEW, ...expect } } as const;
  const { binding, replay } = tool;
  const call = () =>
    rig.call(opened, {
      ...{ runId, position, actionId, binding, replay, input },
      consumes: { base: genesisBase(runId), pairs: [] },
      attemptId: attemptIdOf(actionId, randomUUID()),
    });
  return { runId, actionId, path, call };
}

function newProcess({ rig, root, base }: Base, plan: Plan = {}): FileProcess {
  const mortal = mortalProcess(base, plan);
  const activities = createActivities({
    ...rig.deps,
    ledger: mortal.ledger(rig.ledger),
    registry: createRegistry(toolsOn(root, mortal.files), defaults),
  });
  const died = mortal.reached.then(() => undefined);
  const unlessDead = <T>(done: Promise<T>): Promise<T | undefined> =>
    plan.fate === 'stands' ? done : Promise.race([done, died]);
  return {
    ...mortal,
    perform(call) {
      const info = { workflowExecution: { workflowId: call.runId, runId: EXECUTION } };
      const done = rig.deliver(call.attemptId, () => activities.performAction(call), info);
      return unlessDead(done.catch((error: Error) => ({ failed: error.message })));
    },
    async doubt({ runId, actionId, attemptId }) {
      const doubt = { kind: 'doubt', why: 'lost', externalId: null } as const;
      await activities.recordFacts({ ...doubt, runId, pin: null, actionId, attemptId });
    },
    inquire({ runId, actionId }) {
      const how = { pin: null, mode: 'ask', attemptIds: [], wantsValue: true } as const;
      return unlessDead(activities.inquire({ ...how, runId, actionId }));
    },
  };
}
