// Debian's Chromium, driven by playwright-core: nothing is downloaded, and nothing is skipped where
// it is missing.

import { accessSync, constants } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const USUAL_PATH = '/usr/bin/chromium';

/** Also for root in a network without a way out. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** `CHROMIUM`, or where Debian installs it. Throws with what to install. */
export function chromiumPath(env: Readonly<Record<string, string | undefined>>): string {
  const path = env['CHROMIUM'] ?? USUAL_PATH;
  try {
    accessSync(path, constants.X_OK);
  } catch (error) {
    throw new Error(
      `the browser tests need Chromium, and ${path} cannot be executed: ` +
        '"apt-get install chromium" as root, or set CHROMIUM to the path of yours',
      { cause: error },
    );
  }
  return path;
}

/** With a profile of its own, gone when it is closed. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(process.env), args: FLAGS });
}
