// Runs one program to its end; what it said is kept short enough for an error message.

import { execFile } from 'node:child_process';

export type CommandResult =
  | { readonly kind: 'ok'; readonly output: string }
  | { readonly kind: 'refused'; readonly why: string };

const SHOWN_CHARS = 400;

export interface CommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly cwd?: string;
}

/** Never throws: a program that is missing, fails or takes too long is `refused`, and why. */
export function runCommand(
  file: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const { env, timeoutMs, cwd } = options;
    const settings = { env, timeout: timeoutMs, killSignal: 'SIGKILL', cwd } as const;
    execFile(file, [...args], settings, (error, stdout, stderr) => {
      if (error === null) return resolve({ kind: 'ok', output: stdout + stderr });
      resolve({ kind: 'refused', why: reasonOf(error, `${stderr}\n${stdout}`, timeoutMs) });
    });
  });
}

function reasonOf(
  error: Error & { code?: unknown; killed?: boolean; signal?: unknown },
  said: string,
  timeoutMs: number,
): string {
  if (error.code === 'ENOENT') return 'no such program';
  if (error.killed) return `did not end within ${timeoutMs} ms`;
  const text = said.trim().slice(-SHOWN_CHARS).replaceAll(/\s+/g, ' ');
  const end = error.signal ? `signal ${error.signal}` : `exit ${error.code}`;
  return text === '' ? end : `${end}: ${text}`;
}
