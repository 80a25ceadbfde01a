import { WorkflowNotFoundError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { expect, test } from 'vitest';
import { ClientError } from '../../client/errors.ts';
import { translated } from '../../client/temporal-errors.ts';

const server = { address: '127.0.0.1:7', namespace: 'agents' };

/** As the transport throws it. */
function grpc(code: number, details: string): Error {
  return Object.assign(new Error(`${code} ${details}`), { code, details, metadata: {} });
}

test.each([
  [grpc(14, 'no connection'), 'temporal_unreachable', /127\.0\.0\.1:7 cannot be reached.*start it/],
  [grpc(4, 'deadline'), 'temporal_unreachable', /127\.0\.0\.1:7/],
  [grpc(7, 'no'), 'temporal_denied', /namespace agents.*HOLDFAST_API_KEY/],
  [grpc(16, 'who?'), 'temporal_denied', /HOLDFAST_API_KEY/],
  [grpc(5, 'Namespace agents is not found.'), 'namespace_missing', /"agents"; create it/],
  [new NamespaceNotFoundError('agents'), 'namespace_missing', /"agents"; create it/],
  [grpc(3, 'bad query'), 'temporal_refused', /bad query.*correct/],
])('%s becomes %s and says what to do', (error, code, message) => {
  const ours = translated(error, server);
  expect(ours).toBeInstanceOf(ClientError);
  expect((ours as ClientError).code).toBe(code);
  expect((ours as ClientError).message).toMatch(message);
});

test('what callers decide about, and what is no answer of a server, stays as it is', () => {
  const missing = new WorkflowNotFoundError('not found', 'a', undefined);
  const defect = new TypeError('x is not a function');
  expect(translated(missing, server)).toBe(missing);
  expect(translated(defect, server)).toBe(defect);
});
