// A server that suggests continue-as-new after few events, for tests of long histories.

import { Connection } from '@temporalio/client';
import { startChildServer } from '../../workers/child-server.ts';
import { devServerArgs } from '../../workers/embedded-server.ts';
import { freePorts, LOOPBACK } from '../../workers/free-port.ts';
import { connectionTo } from '../../workers/server-health.ts';
import { temporalCliBinary } from '../../workers/temporal-cli.ts';
import type { OwnServer } from './workflow-stage.ts';

/** `events`: from which history length on it suggests to continue. */
export async function impatientServer(events: number): Promise<OwnServer> {
  const [port = 0] = await freePorts(1);
  const namespace = 'default';
  const args = devServerArgs({ port, ui: null, namespace, dbPath: null });
  const setting = `limit.historyCount.suggestContinueAsNew=${events}`;
  const server = await startChildServer(await temporalCliBinary(), [
    ...args,
    '--dynamic-config-value',
    setting,
  ]);
  const address = `${LOOPBACK}:${port}`;
  const connection: Connection = await connectionTo(server, address, (each) =>
    each.workflowService.describeNamespace({ namespace }),
  );
  await connection.close();
  return { address, namespace, stop: server.stop };
}
