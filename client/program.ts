// The command line, declared: names, arguments, options. What they do is in commands/<verb>.ts.

import { Command, InvalidArgumentError } from 'commander';
import type { ClientConfig } from '../core/config.ts';
import type { CommandContext, CommandOutput } from './commands/command.ts';
import { inbox } from './commands/inbox.ts';
import { ledgerRestore } from './commands/ledger-restore.ts';
import { resolve } from './commands/resolve.ts';
import { resume } from './commands/resume.ts';
import { run } from './commands/run.ts';
import { state } from './commands/state.ts';
import { cancel, revoke } from './commands/stop.ts';

/** Runs one command and reports it; set up by `main.ts`. */
export interface Perform {
  connected(
    globals: GlobalFlags,
    command: (context: CommandContext) => Promise<CommandOutput>,
  ): Promise<void>;
  /** Without Temporal. */
  alone(
    globals: GlobalFlags,
    command: (config: ClientConfig) => Promise<CommandOutput>,
  ): Promise<void>;
}

export interface GlobalFlags {
  readonly address?: string;
  readonly namespace?: string;
  readonly ledger?: string;
  readonly json?: boolean;
}

export function cliProgram(perform: Perform, version: string): Command {
  const program = new Command('holdfast')
    .description('Start, watch, answer and stop runs of Holdfast agents.')
    .version(version)
    .option('--address <host:port>', 'Temporal frontend; default: HOLDFAST_ADDRESS')
    .option('--namespace <name>', 'Temporal namespace; default: HOLDFAST_NAMESPACE')
    .option(
      '--ledger <url>',
      'ledger, e.g. sqlite:/var/lib/holdfast/ledger.db; default: HOLDFAST_LEDGER_URL',
    )
    .option('--json', 'print one JSON object on standard output')
    .exitOverride();
  const act = (command: (context: CommandContext) => Promise<CommandOutput>) =>
    perform.connected(program.opts(), command);
  startOptions(program.command('run <run-id>'))
    .description('start a run, attach to the open one, or show the end of the closed one')
    .action((runId, flags) => act((context) => run(context, runId, flags)));
  program
    .command('state <run-id>')
    .description('show what the ledger and the run itself know')
    .action((runId) => act((context) => state(context, runId)));
  declareResolve(program, act);
  commandOptions(program.command('revoke <run-id>'))
    .description("withdraw the run's permission to act: in the ledger first, then by signal")
    .action((runId, flags) => act((context) => revoke(context, runId, flags)));
  commandOptions(program.command('cancel <run-id>'))
    .description('as revoke, and tell the tools at work to stop; undoes nothing')
    .action((runId, flags) => act((context) => cancel(context, runId, flags)));
  startOptions(commandOptions(program.command('resume <run-id>')))
    .description('take over a run whose workflow is closed without a recorded end')
    .action((runId, flags) => act((context) => resume(context, runId, flags)));
  program
    .command('inbox')
    .description('list what waits for a person: open questions, disputes, runs that need resume')
    .action(() => act((context) => inbox(context)));
  program
    .command('ledger')
    .description('keep the ledger itself')
    .command('restore')
    .description('say that a copy was put in its place: a new incarnation, for stopped workers')
    .action(() => perform.alone(program.opts(), ledgerRestore));
  return program;
}

function startOptions(command: Command): Command {
  return command
    .option('--plan <file>', 'JSON file {"steps": [ … ]}; - is standard input')
    .option('--goal <text>', 'instructions for the model')
    .option('--user <id>', 'user the run acts for')
    .option('--workspace <id>', 'workspace the run acts in')
    .option('--account <binding>', 'account binding of the user')
    .option('--tool <name...>', 'tools the run may use; default: all of the installation')
    .option('--wait', 'wait for the end');
}

function commandOptions(command: Command): Command {
  return command
    .requiredOption('--actor <who>', 'who says so')
    .requiredOption('--reason <text>', 'why')
    .option('--id <command-id>', 'makes it idempotent; default: a fresh one');
}

function declareResolve(
  program: Command,
  act: (command: (context: CommandContext) => Promise<CommandOutput>) => Promise<void>,
): void {
  program
    .command('resolve <action-id>')
    .description('show the question about an unknown action; with one of the answers, answer it')
    .option('--confirm-executed', 'it took effect')
    .option('--confirm-not-executed', 'it did not; needs --coverage')
    .option('--authorize-retry', 'allow one more attempt')
    .option('--abandon', 'close it as unknown for ever')
    .option('--actor <who>', 'who says so')
    .option('--reason <text>', 'why')
    .option('--evidence <kind:source>', evidenceText, once('--evidence'))
    .option('--detail <text>', 'what the evidence shows')
    .option('--coverage <text>', 'attempts, receiver, until when, why nothing can arrive later')
    .option('--external-id <id>', 'what the receiver calls it')
    .option('--result <file>', 'JSON of the result, if it could be obtained; - is standard input')
    .option('--old-request-cannot-arrive', 'only where that is certain')
    .option('--accept-possible-duplicate', 'a retry may then act twice')
    .option('--record-version <n>', 'version of the question you looked at; default: newest', whole)
    .option('--id <command-id>', 'makes it idempotent; default: from action, version and answer')
    .option('--json-command <file>', 'the whole answer as JSON; - is standard input')
    .option('--update', 'wait until a worker has taken or refused it')
    .action((actionId, flags) => act((context) => resolve(context, actionId, flags)));
}

const evidenceText =
  'receiver_query, object_observation or human_attestation, then where it can be looked up';

/** Evidence is one; the last of two would win silently. */
function once(flag: string) {
  return (value: string, previous: string | undefined) => {
    if (previous !== undefined) throw new InvalidArgumentError(`${flag} can be given once.`);
    return value;
  };
}

function whole(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value))
    throw new InvalidArgumentError('It is a whole number from 1, as the question shows it.');
  return Number(value);
}
