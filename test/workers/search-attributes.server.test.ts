import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { searchAttributes } from '../../core/search-attributes.ts';
import {
  missingSearchAttributes,
  registerSearchAttributes,
} from '../../workers/search-attributes.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const names = Object.keys(searchAttributes);
const CACHE_MS = 60_000;
let connection: Connection;

beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporal').address });
});
afterAll(() => connection.close());

/** A namespace without any of ours, once the server's caches know it. */
async function emptyNamespace(): Promise<string> {
  const namespace = `empty-${randomUUID()}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: (24 * 60 * 60) as never },
  });
  const known = () => missingSearchAttributes(connection, namespace).catch(() => 'not yet');
  await expect.poll(known, { timeout: CACHE_MS }).toEqual(names);
  return namespace;
}

test('missing attributes are created, and none twice', async () => {
  const namespace = await emptyNamespace();
  expect(await registerSearchAttributes(connection, namespace)).toEqual(names);
  expect(await missingSearchAttributes(connection, namespace)).toEqual([]);
  expect(await registerSearchAttributes(connection, namespace)).toEqual([]);
});

test('workers that create them at the same time all succeed', async () => {
  const namespace = await emptyNamespace();
  const workers = [1, 2, 3].map(() => registerSearchAttributes(connection, namespace));
  await Promise.all(workers);
  expect(await missingSearchAttributes(connection, namespace)).toEqual([]);
});

test('an attribute of another type is refused by name, with what to do', async () => {
  const namespace = await emptyNamespace();
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: { HoldfastRun: IndexedValueType.INDEXED_VALUE_TYPE_TEXT },
  });
  await expect
    .poll(() => registerSearchAttributes(connection, namespace).catch(String), {
      timeout: CACHE_MS,
    })
    .toMatch(/another type: HoldfastRun \(needed: Keyword\); remove them/);
});
