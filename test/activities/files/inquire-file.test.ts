// Would catch: an answer that the disk does not bear out, another's change that is lost on the way
// to it, a draft that could still be published after it, and an inquiry whose crash changes what
// the next one says. Every state is made by hand here, on a real directory.

import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Inquiry } from '../../../activities/tool.ts';
import { inquireFile } from '../../../activities/tools/files/inquire-file.ts';
import { withLock } from '../../../activities/tools/files/lock.ts';
import { draftName, keptName, withdrawnName } from '../../../activities/tools/files/names.ts';
import { openDirectory } from '../../../activities/tools/files/place.ts';
import { type FileSystem, nodeFiles } from '../../../activities/tools/files/system.ts';
import type { Publish } from '../../../activities/tools/files/verdict.ts';
import {
  NEW,
  OLD,
  prepared,
  publish,
  quick,
  receiverKey,
  replaceBy,
  type Scene,
  THIRD,
} from '../../support/file-scene.ts';
import { mortalProcess } from '../../support/mortal-files.ts';

type Played = readonly [
  title: string,
  publish: Publish,
  play: (scene: Scene) => Promise<void> | void,
  verdict: string,
  says: RegExp | null,
  target: string | null,
  ours: Record<string, string>,
];

const scenes: readonly Played[] = [
  ['not published', 'link', () => {}, 'not_executed', /no file/, null, { withdrawn: '' }],
  ['not published', 'rename', () => {}, 'not_executed', /old content/, OLD, { withdrawn: '' }],
  ['not published', 'swap', () => {}, 'not_executed', /old content/, OLD, { withdrawn: '' }],
  ['published', 'link', publish, 'executed', null, NEW, {}],
  ['published', 'rename', publish, 'executed', null, NEW, {}],
  ['published', 'swap', publish, 'executed', null, NEW, {}],
  [
    'published, and its draft removed by the writer',
    'link',
    async (scene) => {
      await publish(scene);
      rmSync(scene.draft);
    },
    ...(['executed', null, NEW, {}] as const),
  ],
  [
    'the same content by another hand, nothing published',
    'rename',
    ({ target }) => replaceBy(NEW, target),
    ...(['not_executed', /already satisfied/, NEW, { withdrawn: '' }] as const),
  ],
  [
    'the same content by another hand, nothing published',
    'link',
    ({ target }) => replaceBy(NEW, target),
    ...(['not_executed', /already satisfied/, NEW, { withdrawn: '' }] as const),
  ],
  [
    'a third content, nothing published',
    'swap',
    ({ target }) => replaceBy(THIRD, target),
    ...(['not_executed', /conflict/, THIRD, { withdrawn: '' }] as const),
  ],
  [
    'published, then edited in place',
    'rename',
    async (scene) => {
      await publish(scene);
      writeFileSync(scene.target, THIRD);
    },
    ...(['executed', /changed since/, THIRD, {}] as const),
  ],
  [
    'published, then edited in place, its draft still there',
    'link',
    async (scene) => {
      await publish(scene);
      writeFileSync(scene.target, THIRD);
    },
    ...(['executed', /changed since/, THIRD, {}] as const),
  ],
  [
    'published, then replaced',
    'rename',
    async (scene) => {
      await publish(scene);
      replaceBy(THIRD, scene.target);
    },
    ...(['conflict', /replaced since/, THIRD, {}] as const),
  ],
  [
    'published, then replaced, what it displaced is still there',
    'swap',
    async (scene) => {
      await publish(scene);
      replaceBy(THIRD, scene.target);
    },
    ...(['executed', /replaced since/, THIRD, { kept: OLD }] as const),
  ],
  [
    'published, then removed, its draft still there',
    'link',
    async (scene) => {
      await publish(scene);
      rmSync(scene.target);
    },
    ...(['conflict', /removed since/, null, { touched: NEW }] as const),
  ],
  [
    'published, then renamed by another',
    'link',
    async (scene) => {
      await publish(scene);
      renameSync(scene.target, `${scene.target}.bak`);
    },
    ...(['conflict', /removed since/, null, { touched: NEW }] as const),
  ],
  [
    'the draft removed by another hand',
    'swap',
    ({ draft }) => rmSync(draft),
    ...(['conflict', /draft was removed/, OLD, {}] as const),
  ],
  [
    "another's change displaced: it stands again",
    'swap',
    async (scene) => {
      replaceBy(THIRD, scene.target);
      await publish(scene);
    },
    ...(['not_executed', /put back/, THIRD, { withdrawn: NEW }] as const),
  ],
  [
    "another's change displaced, ours edited since: both are kept",
    'swap',
    async (scene) => {
      replaceBy(THIRD, scene.target);
      await publish(scene);
      writeFileSync(scene.target, 'a fourth');
    },
    ...(['conflict', /kept as/, 'a fourth', { kept: THIRD }] as const),
  ],
  [
    "another's change displaced, ours replaced since: both are kept",
    'swap',
    async (scene) => {
      replaceBy(THIRD, scene.target);
      await publish(scene);
      replaceBy('a fourth', scene.target);
    },
    ...(['conflict', /kept as/, 'a fourth', { kept: THIRD }] as const),
  ],
  [
    'a second name for the draft at the target, not by a link of ours',
    'rename',
    ({ draft, target }) => {
      rmSync(target);
      linkSync(draft, target);
    },
    ...(['conflict', /did not make/, NEW, { withdrawn: NEW }] as const),
  ],
  [
    'a link stands at the target',
    'rename',
    ({ target, root }) => {
      rmSync(target);
      symlinkSync(join(root, 'a'), target);
    },
    ...(['not_executed', /no regular file/, undefined as never, { withdrawn: '' }] as const),
  ],
];

const titled = scenes.map((scene) => [`${scene[0]} (${scene[1]})`, scene] as const);

test.each(titled)('C12 R-127 %s', async (_title, [, how, play, verdict, says, target, ours]) => {
  const scene = await prepared(how);
  await play(scene);
  const answer = await scene.ask();
  expect(answer).toMatchObject({ verdict });
  expect(answer).not.toHaveProperty('result');
  if (says !== null) expect('detail' in answer && answer.detail).toMatch(says);
  const found = () => (existsSync(scene.target) ? readFileSync(scene.target, 'utf8') : null);
  if (target !== undefined) expect(found()).toBe(target);
  expect(scene.ours()).toEqual(ours);
  // Nobody wrote the answer down: whoever asks again is told the same, but for who put it back.
  expect(await scene.ask()).toMatchObject({ verdict });
  if (target !== undefined) expect(found()).toBe(target);
});

test.each(titled)(
  'C11 the inquirer dies at any call: %s',
  async (_title, [, how, play, verdict]) => {
    const inquiry = async (at?: number) => {
      const scene = await prepared(how);
      await play(scene);
      const mortal = mortalProcess(quick, at === undefined ? {} : { at });
      await Promise.race([scene.ask({}, mortal.files), mortal.reached]);
      return { scene, mortal };
    };
    const { mortal: whole } = await inquiry();
    const points = whole.calls.map((name, before) => ({ name, at: before + 1 }));
    await Promise.all(
      points.map(async ({ name, at }) => {
        const { scene, mortal } = await inquiry(at);
        expect(await scene.ask(), `after a death at ${at}, ${name}`).toMatchObject({ verdict });
        mortal.bury();
      }),
    );
  },
);

test.each(['link', 'rename', 'swap'] as const)(
  'C11 once it is answered, a writer that was frozen publishes nothing: by %s',
  async (how) => {
    const scene = await prepared(how);
    expect(await scene.ask()).toMatchObject({ verdict: 'not_executed', proof: 'closed_token' });
    await expect(publish(scene)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(existsSync(scene.target) ? readFileSync(scene.target, 'utf8') : null).toBe(
      how === 'link' ? null : OLD,
    );
  },
);

test('R-082 a like file elsewhere, or by another hand, is no effect of this attempt', async () => {
  const scene = await prepared('link');
  mkdirSync(join(scene.root, 'b'));
  writeFileSync(join(scene.root, 'b/f.txt'), NEW);
  expect(await scene.ask()).toMatchObject({ verdict: 'not_executed' });
});

test('B6 fence shuts the draft out, and keeps what tells whether it had been linked', async () => {
  const fenced = await prepared('link');
  await fenced.fence();
  expect(fenced.ours()).toEqual({ withdrawn: NEW });
  await expect(publish(fenced)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await fenced.ask()).toMatchObject({ verdict: 'not_executed' });
  const linked = await prepared('link');
  await publish(linked);
  rmSync(linked.target);
  await linked.fence();
  expect(await linked.ask()).toMatchObject({ verdict: 'conflict' });
  const late = await prepared('swap');
  await publish(late);
  await late.fence();
  expect(await late.ask()).toMatchObject({ verdict: 'executed' });
});

test('K-106 what never prepared is not done; once asked about, its draft is gone', async () => {
  const scene = await prepared('rename');
  expect(await scene.ask({ prepared: null })).toMatchObject({ verdict: 'not_executed' });
  expect(scene.ours()).toEqual({});
  expect(readFileSync(scene.target, 'utf8')).toBe(OLD);
});

test('what never prepared keeps its draft in name while a writer may be at it', async () => {
  const scene = await prepared('rename');
  const directory = await openDirectory(nodeFiles, scene.root, 'a');
  if (directory === 'outside') throw new Error('the directory is inside');
  const place = { directory, name: 'f.txt', path: 'a/f.txt' };
  const ask = { waitMs: 0, signal: new AbortController().signal };
  await withLock(nodeFiles, place, ask, async () => {
    expect(await scene.ask({ prepared: null })).toMatchObject({ verdict: 'not_executed' });
    // It comes to prepare after all: the ledger drops the answer, and the question is put again.
    expect(scene.ours()).toEqual({ withdrawn: '' });
    expect(await scene.ask()).toMatchObject({ verdict: 'not_executed' });
  });
  await directory.handle.close();
});

test('drafts of other attempts and other actions are left alone', async () => {
  const scene = await prepared('rename');
  const others = [draftName(receiverKey, 2, '0badcafe'), draftName('another', 1, '0badcafe')];
  for (const name of others) writeFileSync(join(scene.root, 'a', name), THIRD);
  await scene.ask({ prepared: null });
  expect(readdirSync(join(scene.root, 'a'))).toEqual(expect.arrayContaining(others));
});

test("R-100 a displaced change waits for the lock, and is put back when it's free", async () => {
  const scene = await prepared('swap');
  replaceBy(THIRD, scene.target);
  await publish(scene);
  const directory = await openDirectory(nodeFiles, scene.root, 'a');
  if (directory === 'outside') throw new Error('the directory is inside');
  const place = { directory, name: 'f.txt', path: 'a/f.txt' };
  const ask = { waitMs: 0, signal: new AbortController().signal };
  await withLock(nodeFiles, place, ask, async () => {
    expect(await scene.ask()).toMatchObject({ verdict: 'unavailable' });
  });
  await directory.handle.close();
  expect(await scene.ask()).toMatchObject({ verdict: 'not_executed' });
  expect(readFileSync(scene.target, 'utf8')).toBe(THIRD);
});

test('without the exchange a displaced change is kept, and a person is told where', async () => {
  const scene = await prepared('swap');
  replaceBy(THIRD, scene.target);
  await publish(scene);
  const kept = keptName(basename(scene.draft));
  const answer = await scene.ask({}, { ...nodeFiles, addonMissing: () => 'not installed' });
  expect(answer).toMatchObject({ verdict: 'conflict', detail: expect.stringContaining(kept) });
  expect(scene.ours()).toEqual({ kept: THIRD });
});

test('somebody replaces the target while a change is put back: neither is lost', async () => {
  const scene = await prepared('swap');
  replaceBy(THIRD, scene.target);
  await publish(scene);
  let swaps = 0;
  const racing: FileSystem = {
    ...nodeFiles,
    swap(one, other) {
      if (swaps++ === 0) replaceBy('a fourth', scene.target);
      return nodeFiles.swap(one, other);
    },
  };
  expect(await scene.ask({}, racing)).toMatchObject({ verdict: 'conflict' });
  expect(readFileSync(scene.target, 'utf8')).toBe('a fourth');
  expect(scene.ours()).toEqual({ kept: THIRD });
});

test('two who ask at once say the same', async () => {
  for (const how of ['link', 'rename', 'swap'] as const) {
    const [idle, done] = [await prepared(how), await prepared(how)];
    await publish(done);
    for (const [scene, verdict] of [[idle, 'not_executed'] as const, [done, 'executed'] as const])
      for (const { verdict: said } of await Promise.all([scene.ask(), scene.ask(), scene.ask()]))
        expect(said).toBe(verdict);
  }
});

test.each([
  ['the root', ({ root }: Scene) => renameSync(root, `${root}-gone`), 'unavailable'],
  ['its directory', ({ root }: Scene) => rmSync(join(root, 'a'), { recursive: true }), 'conflict'],
] as const)('%s is gone: nothing is claimed of a prepared attempt', async (_n, remove, verdict) => {
  const scene = await prepared('rename');
  remove(scene);
  const answer = await scene.ask();
  expect(answer).toMatchObject({ verdict, detail: expect.stringContaining('a/f.txt') });
  if (existsSync(`${scene.root}-gone`)) renameSync(`${scene.root}-gone`, scene.root);
});

test('a draft and what was withdrawn are both there: nothing is overwritten', async () => {
  const scene = await prepared('rename');
  writeFileSync(join(scene.root, 'a', withdrawnName(basename(scene.draft))), 'copied');
  expect(await scene.ask()).toMatchObject({ verdict: 'unavailable' });
  expect(scene.ours()).toEqual({ draft: NEW, withdrawn: 'copied' });
});

test('several attempts: one that was executed outweighs those that were not', async () => {
  const scene = await prepared('rename');
  await publish(scene);
  const open = [
    { number: 2, prepared: null },
    { number: 1, prepared: scene.marks },
  ];
  const below = { files: nodeFiles, root: scene.root, symlinks: 'follow' } as const;
  const inquiry = { input: { path: 'a/f.txt' }, receiverKey, open } as unknown as Inquiry;
  expect(await inquireFile(below, inquiry)).toMatchObject({ verdict: 'executed' });
});
