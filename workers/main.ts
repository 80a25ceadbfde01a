// The worker as a process: configuration from the environment, tools from a module.
//   node workers/main.ts
// SIGTERM and SIGINT end it gracefully, status 0; a refusal is status 1.

import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Runtime } from '@temporalio/worker';
import type { Tools } from '../activities/index.ts';
import { configFrom } from '../core/config.ts';
import { createWorkers } from './create-workers.ts';
import { createLog, errorFields, temporalLogger } from './log.ts';

async function main(): Promise<void> {
  const config = configFrom(process.env);
  const log = createLog({ level: config.logLevel });
  Runtime.install({ logger: temporalLogger(log.with({ component: 'temporal' })) });
  const tools = await toolsFrom(config.toolsPath);
  if (Object.keys(tools).length === 0)
    log.warn('no tools: set HOLDFAST_TOOLS to a module that exports them');
  const workers = await createWorkers({ config, tools, log });
  void workers.started.then(() =>
    log.info('workers poll', {
      ...{ address: config.address, namespace: config.namespace },
      ...{ count: workers.queues.length, pid: process.pid },
    }),
  );
  try {
    await workers.run();
  } catch (error) {
    log.error('workers ended by an error', errorFields(error));
    throw error;
  }
  log.info('workers ended');
}

async function toolsFrom(path: string | null): Promise<Tools> {
  if (path === null) return {};
  const file = isAbsolute(path) ? path : resolve(process.cwd(), path);
  const loaded: unknown = await import(pathToFileURL(file).href);
  const tools = typeof loaded === 'object' && loaded !== null ? Object(loaded).tools : undefined;
  if (typeof tools !== 'object' || tools === null)
    throw new Error(`HOLDFAST_TOOLS ${file} has no export "tools"; export an object of tools`);
  return tools as Tools;
}

main().then(
  // Native threads of the SDK may linger; everything is closed and stored by now.
  () => process.exit(0),
  (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`the worker does not run: ${message}\n`);
    process.exit(1);
  },
);
