// The last way to a server binary: the download of Temporal's SDK. It runs in a process of its own,
// because the SDK can only download by starting a server, which fixes this process's SDK runtime.

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { limits } from '../core/limits.ts';
import { runCommand } from './command.ts';
import type { Found } from './provision.ts';
import { sdkVersion } from './sdk-version.ts';

export type SdkServer = 'temporal' | 'temporal-test-server';

const STARTERS = { temporal: 'createLocal', 'temporal-test-server': 'createTimeSkipping' } as const;

/** Does not throw. */
export async function downloadBySdk(
  server: SdkServer,
  cacheDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Found> {
  const downloadDir = join(cacheDir, 'sdk');
  await mkdir(downloadDir, { recursive: true });
  const executable = { type: 'cached-download', downloadDir, ttl: '3650 days' };
  const script = `
    const { TestWorkflowEnvironment } = await import('@temporalio/testing');
    const server = { executable: ${JSON.stringify(executable)} };
    const environment = await TestWorkflowEnvironment.${STARTERS[server]}({ server });
    await environment.teardown();`;
  const result = await runCommand(process.execPath, ['--input-type=module', '-e', script], {
    env,
    timeoutMs: limits.provisionStepMs,
    cwd: dirname(fileURLToPath(import.meta.url)),
  });
  if (result.kind === 'refused') return result;
  return { kind: 'found', path: join(downloadDir, `${server}-sdk-typescript-${sdkVersion}`) };
}
