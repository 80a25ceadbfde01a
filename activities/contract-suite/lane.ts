// The adapter at the end of wires of its own: what it does there is known to be of one call.

import type { AnyTool } from '../registry.ts';
import type { ContractSubject } from './subject.ts';
import { type HeldRequest, type PassingRequest, startWire, type Treatment } from './wire.ts';

export interface Lane {
  readonly tool: AnyTool;
  held(): readonly HeldRequest[];
  stop(): Promise<void>;
}

export interface Lanes {
  /** The tool at the endpoint itself: for what it declares, not for calls. */
  readonly tool: AnyTool;
  /** `onSent`: a request that may have an effect is with the endpoint, whole. */
  open(treatment: Treatment, onSent?: () => void): Promise<Lane>;
  /** The endpoint has moved; what is still held goes there. */
  move(address: ContractSubject['endpoint']): void;
  /** All that are still open. */
  stop(): Promise<void>;
}

const LOOKS = ['GET', 'HEAD', 'OPTIONS'];

export function lanesOf(subject: ContractSubject): Lanes {
  const open = new Set<Lane>();
  let endpoints = listed(subject.endpoint);
  const isEffect = (request: PassingRequest) =>
    subject.isEffect?.(request) ?? !LOOKS.includes(request.method);
  return {
    tool: subject.adapter(endpoints[0] ?? '', endpoints),
    async open(treatment, onSent = () => undefined) {
      const wires = await Promise.all(
        endpoints.map((_, at) =>
          startWire({ target: () => endpoints[at] ?? '', treatment, isEffect, onSent }),
        ),
      );
      const urls = wires.map(({ url }) => url);
      const lane: Lane = {
        tool: subject.adapter(urls[0] ?? '', urls),
        held: () => wires.flatMap(({ held }) => held),
        async stop() {
          open.delete(lane);
          await Promise.all(wires.map((wire) => wire.stop()));
        },
      };
      open.add(lane);
      return lane;
    },
    move(address) {
      endpoints = listed(address);
    },
    async stop() {
      await Promise.all([...open].map((lane) => lane.stop()));
    },
  };
}

function listed(address: string | readonly string[]): readonly string[] {
  return typeof address === 'string' ? [address] : address;
}
