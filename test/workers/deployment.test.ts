import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { configFrom } from '../../core/config.ts';

const compose = readFileSync(
  fileURLToPath(new URL('../../docker-compose.yml', import.meta.url)),
  'utf8',
);

/** The worker's environment when nothing is set outside: `${NAME:-default}` is its default. */
function workerSettings(): Record<string, string> {
  const lines = compose.matchAll(/^\s+(HOLDFAST_\w+): "?(.+?)"?$/gm);
  return Object.fromEntries(
    [...lines].map(([, name = '', value = '']) => [name, value.replace(/\$\{\w+:-(.*)\}/, '$1')]),
  );
}

describe('R-142 docker-compose.yml', () => {
  test('the settings of its worker pass the check', () => {
    expect(configFrom(workerSettings())).toMatchObject({
      address: 'temporal:7233',
      ledger: { kind: 'sqlite', path: '/var/lib/holdfast/ledger.db' },
      registerSearchAttributes: true,
    });
  });

  test('R-061 a lost ledger is refused, not replaced; its volume outlives workers', () => {
    expect(configFrom(workerSettings()).createLedger).toBe(false);
    expect(compose).toMatch(/^ {6}- ledger:\/var\/lib\/holdfast$/m);
    expect(compose).toMatch(/^volumes:\n(?: {2}\w+:\n)* {2}ledger:$/m);
  });

  test('every image names its version', () => {
    const images = [...compose.matchAll(/image: (\S+)/g)].map(([, image]) => image);
    expect(images.length).toBeGreaterThan(3);
    for (const image of images) expect(image).toMatch(/:\d+\.\d+/);
  });

  test('every port is bound to loopback', () => {
    const ports = [...compose.matchAll(/- "([^"]+:\d+)"/g)].map(([, port]) => port);
    expect(ports.length).toBe(2);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  test('the buttons of the Web UI that act behind the ledger are off', () => {
    const hidden = [...compose.matchAll(/TEMPORAL_(\w+)_DISABLED: "true"/g)].map(
      ([, name]) => name,
    );
    expect(hidden.sort()).toEqual([
      'ACTIVITY_COMMANDS',
      'BATCH_ACTIONS',
      'WORKFLOW_PAUSE',
      'WORKFLOW_RESET',
      'WORKFLOW_TERMINATE',
    ]);
  });
});

test('R-142 an older Node is refused when the project is installed', () => {
  const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
  expect(read('.npmrc')).toMatch(/^engine-strict=true$/m);
  expect(JSON.parse(read('package.json')).engines).toEqual({ node: '>=20.19' });
});
