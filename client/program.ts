// The command line, declared: names, arguments, options. What they do is in commands/<verb>.ts.

import { Command, Option } from 'commander';
import { statedOutcomeSchema } from '../core/commands.ts';
import type { ClientConfig } from '../core/config.ts';
import { amend, cancel, revoke, topUp } from './commands/authority.ts';
import type { CommandContext, CommandOutput } from './commands/command.ts';
import { approve, deny } from './commands/decide.ts';
import { files } from './commands/files.ts';
import { inbox } from './commands/inbox.ts';
import { ledgerRestore } from './commands/ledger-restore.ts';
import { resolve } from './commands/resolve.ts';
import { resume } from './commands/resume.ts';
import { run } from './commands/run.ts';
import { state } from './commands/state.ts';
import { amount, duration, grantOption, money, once, whole } from './option-values.ts';

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

type Act = (command: (context: CommandContext) => Promise<CommandOutput>) => Promise<void>;

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
  const act: Act = (command) => perform.connected(program.opts(), command);
  startOptions(program.command('run <run-id>'))
    .description('start a run, attach to the open one, or show the end of the closed one')
    .action((runId, flags) => act((context) => run(context, runId, flags)));
  program
    .command('state <run-id>')
    .description('show what the ledger and the run itself know')
    .action((runId) => act((context) => state(context, runId)));
  program
    .command('files <run-id>')
    .description(
      'compare the files that the run wrote, by the ledger, with what is on this disk now; ' +
        'reads only',
    )
    .requiredOption('--root <directory>', 'root of the file tools, on this machine')
    .action((runId, flags) =>
      perform.alone(program.opts(), (config) => files(config, runId, flags)),
    );
  declareResolve(program, act);
  declareAuthority(program, act);
  declareDecisions(program, act);
  startOptions(commandOptions(program.command('resume <run-id>')))
    .description('take over a run whose workflow is closed without a recorded end')
    .action((runId, flags) => act((context) => resume(context, runId, flags)));
  program
    .command('inbox')
    .description(
      'list what waits for a person: open questions, disputes, wishes that look like another one ' +
        'in doubt, approvals, budgets that are used up, runs that need resume',
    )
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
    .option('--tool <name...>', 'tools the run may use; default: those of the plan, or all')
    .addOption(grantOption('what the run may do; default: all'))
    .option('--budget-requests <n>', 'most model calls, lost ones included', whole)
    .option('--budget-tokens <n>', 'most tokens, input and output together', whole)
    .option('--budget-money <amount>', 'most money, e.g. "USD 1.00", by the price table', money)
    .option('--budget-wall-time <time>', 'longest time since the opening, e.g. 2h', duration)
    .addOption(
      new Option('--on-exhausted <what>', 'ask for a top-up (default), or end the run').choices([
        'ask',
        'end',
      ]),
    )
    .option('--wait', 'wait for the end');
}

function declareAuthority(program: Command, act: Act): void {
  changeOptions(program.command('revoke <run-id>'))
    .description("withdraw the run's permission to act: in the ledger first, then by signal")
    .addOption(
      new Option('--keep <what>', 'what stays granted: query, asking what became of it').choices([
        'query',
      ]),
    )
    .action((runId, flags) => act((context) => revoke(context, runId, flags)));
  changeOptions(program.command('cancel <run-id>'))
    .description('as revoke, and tell the tools at work to stop; undoes nothing')
    .action((runId, flags) => act((context) => cancel(context, runId, flags)));
  changeOptions(program.command('amend <run-id>'))
    .description('give the run another goal, other grants, or both: a new revision')
    .option('--plan <file>', 'JSON file {"steps": [ … ]}; - is standard input')
    .option('--goal <text>', 'instructions for the model')
    .addOption(grantOption('all that is granted from now on'))
    .action((runId, flags) => act((context) => amend(context, runId, flags)));
  changeOptions(program.command('top-up <run-id>'))
    .description('add to the budget of the run')
    .option('--requests <n>', 'model calls', whole)
    .option('--tokens <n>', 'tokens', whole)
    .option('--money <decimal>', "of the budget's currency, e.g. 1.50", amount)
    .option('--wall-time <time>', 'e.g. 90s, 15m, 2h, 7d', duration)
    .action((runId, flags) => act((context) => topUp(context, runId, flags)));
}

function declareDecisions(program: Command, act: Act): void {
  const described = (verb: 'approve' | 'deny', does: string) =>
    program
      .command(`${verb} <action-id>`)
      .description(`show what the action waits to be allowed to do; with --actor, ${does}`)
      .option('--actor <who>', 'who decides')
      .option('--reason <text>', 'why')
      .option('--bound <digest>', 'what you looked at; default: what it asks for now')
      .option('--id <command-id>', 'makes it idempotent; default: from action and bound')
      .option('--update', 'wait until the run has taken or refused it');
  described('approve', 'allow it').action((actionId, flags) =>
    act((context) => approve(context, actionId, flags)),
  );
  described('deny', 'refuse it').action((actionId, flags) =>
    act((context) => deny(context, actionId, flags)),
  );
}

function commandOptions(command: Command): Command {
  return command
    .requiredOption('--actor <who>', 'who says so')
    .requiredOption('--reason <text>', 'why')
    .option('--id <command-id>', 'makes it idempotent; default: a fresh one');
}

function changeOptions(command: Command): Command {
  return commandOptions(command).option('--update', 'wait until the run has taken or refused it');
}

function declareResolve(program: Command, act: Act): void {
  program
    .command('resolve <action-id>')
    .description(
      'show the question about an action that is unknown, disputed or held back by one that ' +
        'looks the same; with one of the answers, answer it',
    )
    .option('--confirm-executed', 'it took effect')
    .option('--confirm-not-executed', 'it did not; needs --coverage')
    .option('--authorize-retry', 'allow one more attempt')
    .option('--abandon', 'close it as unknown for ever')
    .option('--confirm-distinct <action-id>', 'it is another wish than this one, in doubt')
    .addOption(
      new Option('--settle-dispute <what>', 'which of two outcomes holds').choices(
        statedOutcomeSchema.options,
      ),
    )
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
