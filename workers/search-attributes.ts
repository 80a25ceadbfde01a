// Makes sure that the server knows our search attributes: without them every start would fail.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { limits } from '../core/limits.ts';
import {
  type SearchAttributeName,
  type SearchAttributeType,
  searchAttributes,
} from '../core/search-attributes.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const wireTypes = {
  Keyword: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  Int: IndexedValueType.INDEXED_VALUE_TYPE_INT,
} as const satisfies Record<SearchAttributeType, number>;

const POLL_MS = 200;

type Services = Pick<Connection, 'operatorService'>;

/**
 * Creates the missing ones and waits until the server lists them; returns the names created.
 * Throws naming each one that is missing or has another type, with the command that creates it.
 */
export async function registerSearchAttributes(
  connection: Services,
  namespace: string,
): Promise<SearchAttributeName[]> {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return [];
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        missing.map((name) => [name, wireTypes[searchAttributes[name]]]),
      ),
    });
  } catch (error) {
    // Another worker may have created them in this moment; what counts is the list.
    const still = await missingSearchAttributes(connection, namespace);
    if (still.length > 0) throw cannotRegister(namespace, still, error);
  }
  const deadline = Date.now() + limits.searchAttributesWaitMs;
  for (;;) {
    const still = await missingSearchAttributes(connection, namespace);
    if (still.length === 0) return missing;
    if (Date.now() > deadline) throw cannotRegister(namespace, still, 'the server lists them not');
    await sleep(POLL_MS);
  }
}

/** Names that the server does not know. Throws when it knows one by another type. */
export async function missingSearchAttributes(
  connection: Services,
  namespace: string,
): Promise<SearchAttributeName[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const names = Object.keys(searchAttributes) as SearchAttributeName[];
  const wrong = names.filter((name) => {
    const type = customAttributes[name];
    return type !== undefined && type !== null && type !== wireTypes[searchAttributes[name]];
  });
  if (wrong.length > 0) {
    const list = wrong.map((name) => `${name} (needed: ${searchAttributes[name]})`).join(', ');
    throw new Error(
      `namespace ${namespace} has search attributes of another type: ${list}; ` +
        'remove them with "temporal operator search-attribute remove" or use another namespace',
    );
  }
  return names.filter((name) => !customAttributes[name]);
}

function cannotRegister(
  namespace: string,
  names: readonly SearchAttributeName[],
  cause: unknown,
): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  const commands = names.map(
    (name) =>
      `  temporal operator search-attribute create --namespace ${namespace} ` +
      `--name ${name} --type ${searchAttributes[name]}`,
  );
  return new Error(
    `search attributes cannot be registered in namespace ${namespace}: ${names.join(', ')} ` +
      `(${why}); let someone who may create them run\n${commands.join('\n')}`,
    { cause },
  );
}
