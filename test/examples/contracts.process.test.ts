// The contracts of the three examples, tried out at the examples' own receivers by the suite that
// authors are given. Would catch: an example that declares more than its service does, and a
// service that no longer does what the example says of it.

import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  assertContract,
  type ContractField,
  type ContractReport,
  checkContract,
} from '../../activities/contract-suite.ts';
import type { AnyTool } from '../../activities/index.ts';
import { jobsFor } from '../../examples/jobs/job-log.ts';
import { jobTools } from '../../examples/jobs/tools.ts';
import { mailsWith } from '../../examples/mail/person.ts';
import { mailTools, messageIdOf } from '../../examples/mail/tools.ts';
import { chargesFor } from '../../examples/payments/payment-log.ts';
import { paymentTools } from '../../examples/payments/tools.ts';
import { type ServiceProcess, startService } from '../../examples/support-desk/receivers.ts';
import { builtProgram } from '../support/built-program.ts';
import { tempDir } from '../support/temp-dir.ts';

/** A receiver that can be killed and started on the same store. */
async function receiverOf(script: string, ...args: readonly string[]) {
  const directory = tempDir();
  const program = await builtProgram(script);
  const store = ['--store', join(directory, 'store'), '--port', '0'];
  const logPath = join(directory, 'log');
  const start = () => startService({ script: [program, ...store, ...args], logPath });
  const running: { service: ServiceProcess } = { service: await start() };
  onTestFinished(() => running.service.child.stop());
  return {
    running,
    async restart() {
      await running.service.child.kill();
      running.service = await start();
      return running.service.url;
    },
  };
}

function saw({ fields }: ContractReport, field: ContractField): string {
  return fields.find((each) => each.field === field)?.how.join('\n') ?? '';
}

test('R-030 A12 the payment API keeps its keys as declared: L2', async () => {
  const { running, restart } = await receiverOf('examples/payments/payment-api.ts');
  const report = await checkContract({
    adapter: (url) => paymentTools({ url, timeoutMs: 10_000 }).charge_card as AnyTool,
    endpoint: running.service.url,
    input: (n) => ({ card: 'tok_visa', cents: 100 + n }),
    effects: async ({ receiverKey }) =>
      (await chargesFor(running.service, encodeURIComponent(receiverKey))).length,
    restart,
    kills: 2,
  });
  assertContract(report);
  expect(report).toMatchObject({ declaredLevel: 'L2', level: 'L2' });
  expect(report.notes).toEqual(['scope: declared, not checked']);
});

test('R-036 the job API can be asked as declared, and keeps no keys: L1', async () => {
  const { running, restart } = await receiverOf('examples/jobs/job-api.ts');
  const report = await checkContract({
    adapter: (url) => jobTools({ url }).make_report as AnyTool,
    endpoint: running.service.url,
    input: (n) => ({ report: `Report ${n}` }),
    effects: async ({ receiverKey }) => (await jobsFor(running.service, receiverKey)).length,
    restart,
    kills: 1,
  });
  assertContract(report);
  expect(report).toMatchObject({ declaredLevel: 'L1', level: 'L1' });
  expect(saw(report, 'identity')).toContain('3 effects of one key');
});

test('R-037 a job API that does not find what it has taken is no L1', async () => {
  const { running } = await receiverOf('examples/jobs/job-api.ts');
  const report = await checkContract({
    adapter: (url) =>
      ({
        ...jobTools({ url }).make_report,
        inquire: async () => ({ verdict: 'no_record' }),
      }) as AnyTool,
    endpoint: running.service.url,
    input: (n) => ({ report: `Report ${n}` }),
    effects: async ({ receiverKey }) => (await jobsFor(running.service, receiverKey)).length,
  });
  expect(report).toMatchObject({ declaredLevel: 'L1', level: 'L0' });
  expect(report.problems).toMatchObject([{ field: 'inquiry', instead: { inquiry: 'none' } }]);
});

test('R-029 the mail gateway promises nothing and keeps nothing: each send is a mail', async () => {
  const { running } = await receiverOf('receiver/main.ts', '--kind', 'dumb');
  const report = await checkContract({
    adapter: (url) => mailTools({ url }).send_mail as AnyTool,
    endpoint: running.service.url,
    input: (n) => ({ to: 'ada@example.com', subject: `Mail ${n}`, body: '' }),
    effects: async ({ receiverKey }) =>
      (await mailsWith(running.service, messageIdOf(receiverKey))).length,
  });
  expect(report).toMatchObject({ declaredLevel: 'L0', level: 'L0', problems: [] });
  expect(saw(report, 'identity')).toContain('3 effects of one key');
});
