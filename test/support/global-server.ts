// Once per run of the `server` project: one embedded server and one workflow bundle for all files.
// Never an existing server, even if one listens at the usual address.

import { existsSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { startEmbeddedServer } from '../../workers/embedded-server.ts';
import { bundleWorkflows, packageFile } from '../../workers/workflow-bundle.ts';

export interface TestServer {
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    temporal: TestServer;
    /** `workflowBundle.codePath` of `workflows/index.ts`. */
    bundlePath: string;
  }
}

const workflowsPath = packageFile(import.meta.url, '../../workflows/index');
const payloadConverterPath = packageFile(import.meta.url, '../../workflows/payload-converter');

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startEmbeddedServer({ ui: true });
  const { address, namespace, uiUrl } = server;
  if (uiUrl === null) throw new Error('the test server was started with a Web UI');
  project.provide('temporal', { address, namespace, uiUrl });
  if (existsSync(workflowsPath)) {
    const { codePath } = await bundleWorkflows({ workflowsPath, payloadConverterPath });
    project.provide('bundlePath', codePath);
  }
  return server.stop;
}
