// Would catch: a ledger that says "written" believed over a disk that has gone back, a file that
// looks right taken for the one that was written or for a receipt, and a look that changes a thing.

import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileLines, filesOf, leftDrafts, leftLines } from '../../../client/files.ts';
import { digestOfBytes } from '../../../core/digest.ts';
import { cli } from '../../support/cli-run.ts';
import {
  type FileAction,
  type FileRig,
  fileRig,
  NEW,
  OLD,
  type Work,
} from '../../support/file-rig.ts';
import { tempDir } from '../../support/temp-dir.ts';

const digest = (text: string) => digestOfBytes(Buffer.from(text));
const at = (rig: FileRig, { path }: FileAction) => join(rig.root, path);

async function written(work: Work): Promise<{ rig: FileRig; action: FileAction }> {
  const rig = await fileRig();
  const action = await rig.action(work);
  expect(await rig.process().perform(action.call())).toMatchObject({ settled: 'executed' });
  return { rig, action };
}

/** Names, contents and times of all that is there. */
function everything(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const status = statSync(join(directory, name), { bigint: true });
      const content = status.isFile() ? readFileSync(join(directory, name), 'utf8') : '';
      return `${name} ${status.ino} ${status.mtimeNs} ${status.ctimeNs} ${content}`;
    });
}

/** What both say, after which neither disk nor ledger is another. */
async function look({ rig, root }: FileRig, { runId }: FileAction) {
  const before = await rig.ledger.read(runId);
  const disk = everything(root);
  const found = await filesOf(before, root);
  expect(everything(root)).toEqual(disk);
  expect((await rig.ledger.read(runId)).head).toEqual(before.head);
  return found;
}

test('K-110 R-082 with the old content again it has gone back, and stays so', async () => {
  const { rig, action } = await written('replace');
  writeFileSync(at(rig, action), OLD);
  expect(await look(rig, action)).toEqual([
    {
      ...{ actionId: action.actionId, tool: 'replace_file', path: action.path, by: null },
      ...{ wrote: digest(NEW), replaced: digest(OLD), result: 'recorded' },
      ...{ state: 'gone_back', found: digest(OLD) },
    },
  ]);
  expect(readFileSync(at(rig, action), 'utf8')).toBe(OLD);
});

test.each<[string, Work, string, (target: string) => void]>([
  ['as it was written', 'create', 'as_written', () => undefined],
  ['read-only by now', 'create', 'as_written', (target) => chmodSync(target, 0o444)],
  ['with another name, too', 'create', 'as_written', (target) => linkSync(target, `${target}.2`)],
  ['another file with the same content', 'replace', 'as_written', again],
  ['a created one is gone', 'create', 'gone_back', (target) => rmSync(target)],
  ['a replaced one is gone', 'replace', 'missing', (target) => rmSync(target)],
  [
    'its directory is gone',
    'replace',
    'missing',
    (t) => rmSync(join(t, '..'), { recursive: true }),
  ],
  ['a third content', 'replace', 'changed', (target) => writeFileSync(target, 'third')],
  ['a directory in its place', 'replace', 'changed', directoryAt],
  ['a link in its place, to the right content', 'replace', 'changed', linkAt],
])('R-082 K-110 %s: %s is %s', async (_what, work, state, change) => {
  const { rig, action } = await written(work);
  change(at(rig, action));
  expect(await look(rig, action)).toMatchObject([{ state, result: 'recorded' }]);
});

function again(target: string): void {
  rmSync(target);
  writeFileSync(target, NEW);
}

function directoryAt(target: string): void {
  rmSync(target);
  mkdirSync(target);
}

function linkAt(target: string): void {
  renameSync(target, `${target}.real`);
  symlinkSync(`${target}.real`, target);
}

test('R-082 a file that looks like it in another directory is no substitute', async () => {
  const { rig, action } = await written('replace');
  mkdirSync(join(rig.root, 'elsewhere'));
  renameSync(at(rig, action), join(rig.root, 'elsewhere', 'f.txt'));
  expect(await look(rig, action)).toMatchObject([{ state: 'missing', found: 'absent' }]);
});

test('R-082 a directory that leads out of the root now is not read', async () => {
  const { rig, action } = await written('replace');
  const outside = tempDir();
  const directory = join(at(rig, action), '..');
  renameSync(directory, join(outside, 'd'));
  symlinkSync(join(outside, 'd'), directory);
  expect(await look(rig, action)).toMatchObject([{ state: 'unreadable', found: 'unreadable' }]);
});

test.each<Work>(['create', 'replace'])(
  'R-082 R-127 %s: found by asking, it matches what was wanted, and its result stays missing',
  async (work) => {
    const rig = await fileRig();
    const whole = rig.process();
    await whole.perform((await rig.action(work)).call());
    const diesAt = whole.calls.lastIndexOf('syncDirectory') + 1;
    const action = await rig.action(work);
    const call = action.call();
    const writer = rig.process({ diesAt });
    expect(await writer.perform(call)).toBeUndefined();
    await rig.process().doubt(call);
    await rig.process().inquire(action);
    writer.bury();
    expect(await look(rig, action)).toMatchObject([{ state: 'as_written', result: 'missing' }]);
    const run = await rig.rig.ledger.read(action.runId);
    expect(run.actions.get(action.actionId)).toMatchObject({
      final: { kind: 'executed_result_missing', resultRef: null },
      attempts: [{ settled: { result: null }, settledBy: 'receiver_inquiry' }],
    });
  },
);

test('a root that is not there has lost nothing: it is refused, by both', async () => {
  const { rig, action } = await written('create');
  const run = await rig.rig.ledger.read(action.runId);
  const root = join(rig.root, 'not-mounted');
  await expect(filesOf(run, root)).rejects.toThrow(/ENOENT/);
  await expect(leftDrafts(run, root)).rejects.toThrow(/ENOENT/);
  await expect(filesOf(run, root)).rejects.toThrow(/--root/);
});

test('K-110 holdfast files says it in words, and in JSON', async () => {
  const { rig, action } = await written('replace');
  writeFileSync(at(rig, action), OLD);
  const line = ['files', action.runId, '--root', rig.root, '--ledger', `sqlite:${rig.rig.path}`];
  const said = await cli(line);
  expect(said).toMatchObject({ code: 0, err: '' });
  expect(said.out).toContain(`${action.actionId}  replace_file  ${action.path}  GONE BACK`);
  const json = JSON.parse((await cli([...line, '--json'])).out) as { files: object[] };
  expect(json.files).toMatchObject([{ state: 'gone_back', path: action.path }]);
  const unknown = await cli(['files', 'nobody', ...line.slice(2)]);
  expect(unknown.err).toContain('nobody is not in this ledger');
});

test('R-082 a created one that is gone; a root with nothing of the run is doubted', async () => {
  const { rig, action } = await written('create');
  rmSync(at(rig, action));
  const [gone] = await look(rig, action);
  if (gone === undefined) throw new Error('nothing was found');
  expect(fileLines([gone])).toMatchObject([
    expect.stringMatching(/GONE BACK: nothing is there, as before$/),
    expect.stringMatching(/now: absent$/),
    expect.stringContaining('is this the root'),
  ]);
  const other = { ...gone, found: digest('third'), state: 'changed' } as const;
  expect(fileLines([gone, other]).join('\n')).not.toContain('is this the root');
  expect(fileLines([other])[0]).toContain('changed since, not by this run');
});

test('C13 what an attempt left is listed until its next attempt', async () => {
  const rig = await fileRig();
  const whole = rig.process();
  await whole.perform((await rig.action('replace')).call());
  const action = await rig.action('replace');
  const call = action.call();
  const writer = rig.process({ diesAt: whole.calls.lastIndexOf('swap') + 1 });
  expect(await writer.perform(call)).toBeUndefined();
  const left = async () => {
    const run = await rig.rig.ledger.read(action.runId);
    return (await leftDrafts(run, rig.root)).map(({ end, over }) => ({ end, over }));
  };
  expect(await left()).toEqual([{ end: 'draft', over: false }]);
  await rig.process().doubt(call);
  await rig.process().inquire(action);
  writer.bury();
  expect(await left()).toEqual([{ end: 'withdrawn', over: false }]);
  expect(await rig.process().perform(action.call())).toMatchObject({ settled: 'executed' });
  expect(await left()).toEqual([]);
});

test.each([
  ['draft', false, 'open, leave it'],
  ['withdrawn', true, 'may be removed'],
  ['kept', true, 'look at it before anything else'],
] as const)(
  'C13 of a file that ends in .%s, its action over: %s, it is said: %s',
  (end, over, words) => {
    const [line] = leftLines([{ actionId: 'r.t1.c1', path: `d/.x.${end}`, end, over }]);
    expect(line).toContain(`left by r.t1.c1: d/.x.${end}`);
    expect(line).toContain(words);
  },
);
