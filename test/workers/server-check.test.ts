// Which servers a worker refuses before it polls anything: each named, with what to do about it.

import type { Connection } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { searchAttributes } from '../../core/search-attributes.ts';
import { checkServer } from '../../workers/server-check.ts';

const wireTypes = { Keyword: 2, Int: 3 } as const;
const all = Object.fromEntries(
  Object.entries(searchAttributes).map(([name, type]) => [name, wireTypes[type]]),
);

interface Server {
  readonly version: string;
  readonly clusters: readonly string[];
  readonly attributes: Readonly<Record<string, number>>;
  readonly namespace: 'there' | 'missing';
}
const good: Server = {
  version: '1.32.0',
  clusters: ['active'],
  attributes: all,
  namespace: 'there',
};

/** What a worker would be refused with, and whether anything was created on the way. */
async function refusalOf(over: Partial<Server>, register = false) {
  const server = { ...good, ...over };
  let created = 0;
  const connection = {
    workflowService: {
      getSystemInfo: async () => ({ serverVersion: server.version }),
      describeNamespace: async () => {
        if (server.namespace === 'missing') throw new Error('Namespace prod is not found.');
        const clusters = server.clusters.map((clusterName) => ({ clusterName }));
        return { replicationConfig: { clusters } };
      },
    },
    operatorService: {
      listSearchAttributes: async () => ({ customAttributes: server.attributes }),
      addSearchAttributes: async () => {
        created++;
      },
    },
  } as unknown as Connection;
  const wanted = { namespace: 'prod', address: '127.0.0.1:7233', register };
  const message = await checkServer(connection, wanted).then(
    () => null,
    (error: Error) => error.message,
  );
  return { message, created };
}

describe('a server is', () => {
  test.each(['1.31.9', '0.33.0', '', 'unknown', '1.32'])(
    'refused as version "%s"',
    async (version) => {
      const { message, created } = await refusalOf({ version, attributes: {} }, true);
      expect(message).toMatch(/^Temporal at 127\.0\.0\.1:7233 is .*; at least 1\.32\.0 is needed/);
      expect(message).toContain(version === '' ? 'of unknown version' : `is ${version};`);
      expect(message).toMatch(/upgrade it$/);
      expect(created).toBe(0);
    },
  );

  test.each(['1.32.0', '1.32.1', '1.100.0', '2.0.0', 'v1.32.0', '1.32.0-153.1'])(
    'taken as version %s',
    async (version) => {
      expect(await refusalOf({ version })).toEqual({ message: null, created: 0 });
    },
  );

  test('refused where its namespace lives in two clusters, for the barrier asks one', async () => {
    const { message } = await refusalOf({ clusters: ['east', 'west'] });
    expect(message).toMatch(/namespace prod is replicated over east, west; use one that lives in/);
  });

  test('refused without its namespace, with the command that makes one', async () => {
    const { message } = await refusalOf({ namespace: 'missing' });
    expect(message).toContain('namespace prod cannot be used at 127.0.0.1:7233');
    expect(message).toContain('temporal operator namespace create --namespace prod');
  });

  test('refused without its search attributes where the worker may not create them', async () => {
    const { HoldfastState: _state, HoldfastRun: _run, ...attributes } = all;
    const { message, created } = await refusalOf({ attributes });
    expect(message).toMatch(/namespace prod lacks the search attributes .*HoldfastState/);
    expect(message).toContain('HoldfastRun');
    expect(message).not.toContain('HoldfastAction');
    expect(message).toContain('HOLDFAST_REGISTER_SEARCH_ATTRIBUTES=on');
    expect(created).toBe(0);
  });
});
