import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chromiumPath } from '../support/chromium.ts';
import { tempDir } from '../support/temp-dir.ts';

test('a missing browser is an error that says what to install, never a skipped suite', () => {
  const nowhere = join(tempDir(), 'chromium');
  expect(() => chromiumPath({ CHROMIUM: nowhere })).toThrow(
    `${nowhere} cannot be executed: "apt-get install chromium" as root, or set CHROMIUM`,
  );
});

test('CHROMIUM names the browser', () => {
  const own = join(tempDir(), 'own');
  writeFileSync(own, '', { mode: 0o755 });
  expect(chromiumPath({ CHROMIUM: own })).toBe(own);
});
