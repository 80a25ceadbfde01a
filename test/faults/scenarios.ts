// Fault runs as data: a workload, what strikes it, and what must hold afterwards. One harness plays
// them: once each in the tests, again and again with random victims in `npm run faults`.

import type { KillPoint } from '../../examples/support-desk/kill-points.ts';
import type { Fault } from '../../receiver/index.ts';

/** A plan of this many equal steps; one of them is the victim. */
export const STEPS = 3;

export type Strike =
  /** SIGKILL to the worker process at the victim, then another worker. */
  | { readonly kind: 'kill'; readonly point: KillPoint }
  /** Something between worker and receiver, at the victim's request. */
  | { readonly kind: 'receiver'; readonly fault: Omit<Fault, 'keyIncludes' | 'bodyIncludes'> };

export interface Scenario {
  /** Requirements, condition and outcome: the title of the test. */
  readonly title: string;
  /** `open_ticket`: keyed, can be asked and closed. `send_notice`: neither; a person is asked. */
  readonly tool: 'open_ticket' | 'send_notice';
  readonly strike: Strike;
  /** Beyond what holds always: one effect per step, nothing doubled, lost or left open. */
  readonly holds: {
    /** Attempts of the victim that entered. */
    readonly entered: number;
    /** Requests of the victim that its receiver has logged; only where it logs keys. */
    readonly requests?: number;
    readonly settledBy: 'nobody' | 'inquiry' | 'person';
  };
}

const kill = (point: KillPoint): Strike => ({ kind: 'kill', point });
const lost = (fault: Fault['fault'], more: Partial<Fault> = {}): Strike => ({
  kind: 'receiver',
  fault: { fault, ...more },
});

export const scenarios: readonly Scenario[] = [
  {
    title: 'D2 R-051 R-055 SIGKILL before the gate: it is closed as not submitted and sent once',
    tool: 'open_ticket',
    strike: kill('before_gate'),
    holds: { entered: 1, requests: 1, settledBy: 'nobody' },
  },
  {
    title: 'R-053 R-055 SIGKILL after the gate: the receiver closes the door, then it is sent once',
    tool: 'open_ticket',
    strike: kill('after_gate'),
    holds: { entered: 2, requests: 1, settledBy: 'inquiry' },
  },
  {
    title: 'R-033 R-055 SIGKILL after the commit of a receiver with keys: its record is adopted',
    tool: 'open_ticket',
    strike: kill('after_receiver_commit'),
    holds: { entered: 1, requests: 1, settledBy: 'inquiry' },
  },
  {
    title: 'R-052 R-055 SIGKILL after the result: the recorded result is used, nothing is sent',
    tool: 'open_ticket',
    strike: kill('after_result'),
    holds: { entered: 1, requests: 1, settledBy: 'nobody' },
  },
  {
    title:
      'R-033 R-046 SIGKILL after the commit of a dumb receiver: never resent, a person is asked',
    tool: 'send_notice',
    strike: kill('after_receiver_commit'),
    holds: { entered: 1, settledBy: 'person' },
  },
  {
    title: 'R-053 SIGKILL after the gate to a dumb receiver: sent only once a person has looked',
    tool: 'send_notice',
    strike: kill('after_gate'),
    holds: { entered: 2, settledBy: 'person' },
  },
  {
    title: 'R-052 SIGKILL after the result of a dumb receiver: nobody has to be asked',
    tool: 'send_notice',
    strike: kill('after_result'),
    holds: { entered: 1, settledBy: 'nobody' },
  },
  {
    title: 'R-004 a dropped reply is asked about, and never sent again',
    tool: 'open_ticket',
    strike: lost('commit_then_drop_reply'),
    holds: { entered: 1, requests: 1, settledBy: 'inquiry' },
  },
  {
    title: 'R-016 a request that never arrived is closed, and sent by another attempt',
    tool: 'open_ticket',
    strike: lost('drop_before_commit'),
    holds: { entered: 2, requests: 1, settledBy: 'inquiry' },
  },
  {
    title: 'R-017 a delayed commit meets a closed door or its own record, and has no second effect',
    tool: 'open_ticket',
    strike: lost('delayed_commit', { delayMs: 4_000 }),
    holds: { entered: 2, requests: 2, settledBy: 'inquiry' },
  },
  {
    title: 'R-045 a dumb receiver whose reply was dropped is left alone until a person answers',
    tool: 'send_notice',
    strike: lost('commit_then_drop_reply'),
    holds: { entered: 1, settledBy: 'person' },
  },
];
