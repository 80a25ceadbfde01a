// Runs the command line once: arguments in, exit code out. Nothing here reads the process itself,
// so that tests can be the process.

import { type Command, CommanderError } from 'commander';
import { type ClientConfig, clientConfigFrom } from '../core/config.ts';
import type { HoldfastClient } from './client.ts';
import type { CommandOutput } from './commands/command.ts';
import { ClientError, errorText } from './errors.ts';
import { type Exit, exitCodes, exitOfError } from './exit-codes.ts';
import { linesOf } from './lines.ts';
import { cliProgram, type GlobalFlags, type Perform } from './program.ts';

export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  out(text: string): void;
  err(text: string): void;
  readFile(path: string): Promise<Uint8Array>;
  readInput(): Promise<Uint8Array>;
  connect(config: ClientConfig): Promise<HoldfastClient>;
}

/** `args` without the program's name. Never throws; the number is the exit code. */
export async function main(args: readonly string[], io: CliIo): Promise<number> {
  let exit: Exit = 'ok';
  const configOf = (globals: GlobalFlags) => clientConfigFrom(environment(io.env, globals));
  const print = (globals: GlobalFlags, output: CommandOutput) => {
    io.out(globals.json === true ? `${JSON.stringify(output.json)}\n` : linesOf(output.lines));
    exit = output.exit;
  };
  const perform: Perform = {
    async connected(globals, command) {
      const client = await io.connect(configOf(globals));
      try {
        print(globals, await command({ client, read: (path) => bytesOf(io, path) }));
      } finally {
        await client.close();
      }
    },
    alone: async (globals, command) => print(globals, await command(configOf(globals))),
  };
  const program = cliProgram(perform, io.version);
  for (const each of [program, ...program.commands.flatMap(withParts)])
    each.configureOutput({ writeOut: (text) => io.out(text), writeErr: () => undefined });
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    const named = program.commands.find((each) => args.includes(each.name()));
    const help = `holdfast ${named === undefined ? '' : `${named.name()} `}--help`;
    exit = reported(error, { io, help, json: args.includes('--json') });
  }
  return exitCodes[exit].code;
}

function withParts(command: Command): readonly Command[] {
  return [command, ...command.commands];
}

function environment(env: CliIo['env'], globals: GlobalFlags): CliIo['env'] {
  const given = {
    HOLDFAST_ADDRESS: globals.address,
    HOLDFAST_NAMESPACE: globals.namespace,
    HOLDFAST_LEDGER_URL: globals.ledger,
  };
  const stated = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...env, ...Object.fromEntries(stated) };
}

async function bytesOf(io: CliIo, path: string): Promise<Uint8Array> {
  if (path === '-') return io.readInput();
  try {
    return await io.readFile(path);
  } catch (error) {
    throw new ClientError(
      'bad_input',
      `the file ${path} cannot be read (${errorText(error)}); correct its path`,
      { cause: error },
    );
  }
}

function reported(
  error: unknown,
  { io, help, json }: { readonly io: CliIo; readonly help: string; readonly json: boolean },
): Exit {
  if (error instanceof CommanderError && error.exitCode === 0) return 'ok';
  const usage = error instanceof CommanderError;
  const exit = usage ? 'badInput' : exitOfError(error);
  const message = usage ? usageText(error, help) : errorText(error);
  const code = usage ? 'usage' : codeOf(error);
  if (json) io.out(`${JSON.stringify({ error: { code, message, exit: exitCodes[exit].code } })}\n`);
  else
    io.err(linesOf(message.split('\n').map((line, i) => (i === 0 ? `holdfast: ${line}` : line))));
  if (exit === 'internal' && error instanceof Error) io.err(`${error.stack}\n`);
  return exit;
}

function usageText({ message, code }: CommanderError, help: string): string {
  if (code === 'commander.help') return `no command was given; see: ${help}`;
  return `${message.replace(/^error: /, '').replaceAll('\n', ' ')}; see: ${help}`;
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'internal';
  const { code, name } = error as { code?: unknown; name?: unknown };
  return name === 'ConfigError' ? 'configuration' : typeof code === 'string' ? code : 'internal';
}
