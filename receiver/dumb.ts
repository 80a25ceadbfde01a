// A receiver as most are: no keys, no inquiry, no closing, headers ignored. Each POST /send is one
// more effect, whoever repeats it. Its log is a file of JSON lines; LF is the commit mark.
//
// INV-1  200 is answered only after the line is on the disk.
// INV-2  A line without LF never happened: it is cut off at open, and after a write that failed.

import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import * as z from 'zod';
import type { Json } from '../core/digest.ts';
import { readBody } from './http.ts';
import { json, problem, problemTable } from './problem.ts';
import type { Handler } from './transport.ts';

const LF = 0x0a;
const mailSchema = z.looseObject({ to: z.string(), subject: z.string(), body: z.string() });

export interface Sent {
  /** 1, 2, 3 …: position in the log. */
  readonly seq: number;
  readonly at: number;
  readonly mail: Json;
}

export interface DumbReceiver {
  readonly handler: Handler;
  /** For counting in tests and the demo; a real gateway has nothing like it. */
  log(): readonly Sent[];
  shutdown(): void;
}

/** Throws when the log cannot be opened or a terminated line is not JSON. */
export function openDumbReceiver(options: {
  readonly path: string;
  readonly clock?: () => number;
}): DumbReceiver {
  const clock = options.clock ?? Date.now;
  const file = openSync(options.path, 'a+');
  cutTornTail(file);
  const sent = [...readLog(file)];
  const send = (mail: Json): void => {
    const next: Sent = { seq: sent.length + 1, at: clock(), mail };
    append(file, `${JSON.stringify(next)}\n`);
    sent.push(next);
  };
  const handler: Handler = async (call) => {
    if (call.method === 'POST' && call.path.length === 1 && call.path[0] === 'send') {
      const mail = readBody(call.body, mailSchema);
      if (mail.kind === 'invalid') return problem(problemTable.invalid, mail.detail);
      send(mail.value as Json);
      return json(200, { queued: true });
    }
    if (call.method === 'GET' && call.path[0] === 'log') return json(200, { log: sent });
    return problem({ ...problemTable.invalid, status: 404 }, 'only POST /send is served');
  };
  return { handler, log: () => sent, shutdown: () => closeSync(file) };
}

function append(file: number, line: string): void {
  const end = fstatSync(file).size;
  try {
    const bytes = Buffer.from(line, 'utf8');
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    fsyncSync(file);
  } catch (error) {
    ftruncateSync(file, end);
    throw error;
  }
}

function readAll(file: number): Buffer {
  const bytes = Buffer.alloc(fstatSync(file).size);
  for (let done = 0; done < bytes.length; ) {
    const more = readSync(file, bytes, done, bytes.length - done, done);
    if (more === 0) break;
    done += more;
  }
  return bytes;
}

function cutTornTail(file: number): void {
  const end = readAll(file).lastIndexOf(LF) + 1;
  if (end === fstatSync(file).size) return;
  ftruncateSync(file, end);
  fsyncSync(file);
}

function readLog(file: number): readonly Sent[] {
  const lines = readAll(file).toString('utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Sent);
}
