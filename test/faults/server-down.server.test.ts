// Would catch: an effect that is doubled, lost or forgotten because Temporal was killed and came
// back. Runs stand at every phase of an action while the server is away for 15 s, and go on into
// the outage; effects are counted at the receivers.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { RunHandle } from '../../client/run-start.ts';
import type { Moment } from '../support/broken-ledger.ts';
import { asked, until } from '../support/fault-stage.ts';
import { type MortalServer, mortalServer } from '../support/mortal-server.ts';
import { openStorageStage, type StorageStage, said } from '../support/storage-stage.ts';

const DOWN_MS = 15_000;
const WITHIN_MS = 60_000;
/** The outage, a call that times out before it, and the waits after it. */
const GIVE_UP_MS = 240_000;
const principal = { user: 'ada', workspace: 'w1' };

let server: MortalServer;
let stage: StorageStage;
beforeAll(async () => {
  server = await mortalServer();
  const { address, namespace } = server;
  stage = await openStorageStage({ address, namespace, bundlePath: inject('bundlePath') });
});
afterAll(async () => {
  await stage.close();
  await server.stop();
});

const first = (runId: string) => `${runId}.t1.c1`;

function start(runId: string, tool: 'open_ticket' | 'post_letter'): Promise<RunHandle> {
  const subject = `Notice ${first(runId)}`;
  const input = tool === 'open_ticket' ? { subject } : { to: 'a@example.com', subject, body: '' };
  return stage.client.start(runId, { goal: { kind: 'plan', steps: [{ tool, input }] }, principal });
}

test(
  'R-056 R-077 R-110 Temporal killed for 15 s in every phase: all end, effects once',
  async () => {
    const tickets = ['open', 'barrier', 'gate', 'result', 'end'] as const;
    const moments: readonly Moment[] = tickets.map((phase) => ({
      phase,
      id: phase === 'open' || phase === 'end' ? phase : first(phase),
    }));
    const late: Moment = { phase: 'result', id: first('late') };
    stage.plan({ holds: [...moments, late] });
    await stage.receiver.arm({ fault: 'hold', keyIncludes: first('call') });
    const worker = await stage.worker();

    // Its result waits at the ledger past start-to-close: what comes then is a late fact.
    const runs = [await start('late', 'post_letter')];
    await said(worker, 'HELD', late);
    await asked(stage.client, first('late'));
    for (const phase of tickets) runs.push(await start(phase, 'open_ticket'));
    runs.push(await start('call', 'open_ticket'));
    for (const moment of moments) await said(worker, 'HELD', moment);
    await until('the call', WITHIN_MS, async () =>
      (await stage.receiver.faults()).held.some(({ key }) => key.endsWith(first('call'))),
    );

    await server.dieFor(DOWN_MS, async () => {
      stage.plan({});
      await stage.receiver.release();
    });
    for (const run of runs) expect((await run.result()).end).toEqual({ kind: 'completed' });

    const effects = await stage.receiver.effects();
    for (const runId of [...tickets, 'call'])
      expect([runId, effects.filter(({ key }) => key.endsWith(first(runId))).length]).toEqual([
        ...[runId, 1],
      ]);
    expect(await stage.gateway.log()).toHaveLength(1);
    const { actions } = await stage.ledger.read('late');
    const attempts = actions.get(first('late'))?.attempts ?? [];
    expect(attempts.map((attempt) => [attempt.settled?.outcome, attempt.late])).toEqual([
      ['executed', true],
    ]);
    expect((await stage.client.inbox()).questions).toEqual([]);
  },
  GIVE_UP_MS,
);
