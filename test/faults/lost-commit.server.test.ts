// Would catch: a transaction that is done and whose COMMIT reply is lost, taken for one that never
// was: then the same delivery would be refused, or another one let through, or the end come twice.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openStorageStage, type StorageStage, said } from '../support/storage-stage.ts';

/** As wide as a crowded machine needs to come back to the gate. */
const SEND_WINDOW_MS = 8_000;
const principal = { user: 'ada', workspace: 'w1' };

let stage: StorageStage;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  const server = { address, namespace, bundlePath: inject('bundlePath') };
  const settings = { HOLDFAST_SEND_WINDOW_MS: String(SEND_WINDOW_MS) };
  stage = await openStorageStage(server, { settings });
});
afterAll(() => stage.close());

type Phase = 'open' | 'gate' | 'result' | 'end';

interface Lost {
  readonly again: number;
  readonly entered: number;
  readonly settlements: readonly string[];
}

const soon = { again: 0, entered: 1, settlements: ['executed'] };
/** The barrier was asked longer ago than a first byte may leave after it. */
const late = {
  again: SEND_WINDOW_MS + 500,
  entered: 2,
  settlements: ['not_sent', 'executed'],
};

const rows: readonly [string, Phase, Lost][] = [
  ['at the gate: K-028 the same delivery goes on inside the window', 'gate', soon],
  ['at the gate, past the window: recorded as not sent, and another attempt acts', 'gate', late],
  ['at the result: it is recorded once', 'result', soon],
  ['at the opening: the run is open once', 'open', soon],
  ['at the end: the run ends once', 'end', soon],
];

test.each(rows)(
  'R-061 R-023 K-028 a COMMIT reply lost %s',
  async (_where, phase, { again, entered, settlements }) => {
    const runId = `lost-${phase}-${again}`;
    const actionId = `${runId}.t1.c1`;
    const moment = { phase, id: phase === 'open' || phase === 'end' ? runId : actionId };
    stage.plan({ lost: [{ ...moment, againAfterMs: again }] });
    const worker = await stage.worker();
    const steps = [{ tool: 'create_record', input: { name: runId } }];
    const run = await stage.client.start(runId, { goal: { kind: 'plan', steps }, principal });
    expect(await said(worker, 'LOST', moment)).toBe('unavailable');
    expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });

    const facts = (await stage.ledger.facts(runId, { after: 0, limit: 50 })).map(
      ({ body }) => body,
    );
    const count = (kind: string) => facts.filter((body) => body.kind === kind).length;
    expect([count('run_opened'), count('attempt_entered'), count('run_ended')]).toEqual([
      ...[1, entered, 1],
    ]);
    expect(
      facts.flatMap((body) => (body.kind === 'attempt_settled' ? [body.outcome] : [])),
    ).toEqual(settlements);
    expect(count('action_in_doubt')).toBe(0);
    const requests = (await stage.receiver.requests()).filter(({ key }) => key.endsWith(actionId));
    expect(requests.map(({ kind }) => kind)).toEqual(['execute']);
    const { records } = (await stage.receiver.objects('create_record')) as { records: string[] };
    expect(records.filter((name) => name === runId)).toHaveLength(1);
  },
);
