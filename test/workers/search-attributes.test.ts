import type { Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { registerSearchAttributes } from '../../workers/search-attributes.ts';

/** A server on which this account may list and not create. */
const readOnly = {
  operatorService: {
    listSearchAttributes: async () => ({ customAttributes: { HoldfastRun: 2, HoldfastState: 2 } }),
    addSearchAttributes: async () => {
      throw new Error('Request unauthorized.');
    },
  },
} as unknown as Pick<Connection, 'operatorService'>;

test('attributes that cannot be created are named, each with its command', async () => {
  const refusal = registerSearchAttributes(readOnly, 'prod');
  await expect(refusal).rejects.toThrow(/HoldfastAction, HoldfastTool, .*Request unauthorized/);
  await expect(refusal).rejects.toThrow(
    'temporal operator search-attribute create --namespace prod --name HoldfastUnknowns --type Int',
  );
  await expect(refusal).rejects.not.toThrow('--name HoldfastRun');
});
