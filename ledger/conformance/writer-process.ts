// A writer process as its parent sees it. Ends only by `finish` or `kill`, both awaited.

import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { type Acknowledged, jsonLines, type WriterLine, type WriterOrder } from './writer.ts';

export interface WriterCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export class WriterProcess {
  readonly #child: ChildProcess;
  readonly #lines: AsyncGenerator<unknown>;
  readonly #exited: Promise<NodeJS.Signals | number | null>;

  constructor({ command, args }: WriterCommand) {
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    assert(this.#child.stdout !== null);
    this.#lines = jsonLines(this.#child.stdout);
    this.#exited = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', (code, signal) => resolve(signal ?? code));
    });
    // A writer that is killed cannot take what is still being sent to it.
    this.#child.stdin?.on('error', () => undefined);
  }

  async ready(): Promise<this> {
    const line = await this.#next();
    assert.equal(line?.kind, 'ready', `the writer began with ${JSON.stringify(line)}`);
    return this;
  }

  order(order: WriterOrder): void {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /** The next commit; null when the order is done or the process has ended. */
  async nextCommit(): Promise<Acknowledged | null> {
    const line = await this.#next();
    if (line?.kind === 'error') assert.fail(`the writer failed: ${line.message}`);
    return line?.kind === 'commit' ? line.commit : null;
  }

  async commits(): Promise<Acknowledged[]> {
    const commits: Acknowledged[] = [];
    for (;;) {
      const commit = await this.nextCommit();
      if (commit === null) return commits;
      commits.push(commit);
    }
  }

  async finish(): Promise<void> {
    this.#child.stdin?.end();
    assert.equal(await this.#exited, 0, 'the writer ends by itself');
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  async #next(): Promise<WriterLine | null> {
    const { value, done } = await this.#lines.next();
    return done === true ? null : (value as WriterLine);
  }
}
