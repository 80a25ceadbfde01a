// docs/cli.md is this: the declared commands and the table of exit codes, printed.
// `npx vitest run test/client/cli.test.ts -u` writes it anew.

import type { Command, Option } from 'commander';
import { exitCodes } from '../../client/exit-codes.ts';
import { cliProgram } from '../../client/program.ts';

const HEAD = `# Command line

\`holdfast <command>\`. Where Temporal and the ledger are comes from the environment
([configuration](configuration.md)) or from the options below, which win. Options may stand before
or after the command. With \`--json\` one JSON object goes to standard output, for an error too
(\`{"error":{"code","message","exit"}}\`); without it the same words as in the Web UI, and errors
go to standard error. This page is printed from the declarations in \`client/program.ts\`; a test
keeps it true.
`;

const NOTES = `
## Answering an unknown

\`holdfast inbox\` lists the questions, \`holdfast resolve <action-id>\` shows one with what
was sent, its record version and complete answers. An answer names who says so, why, and what it
rests on:

\`\`\`sh
holdfast resolve invoice-42.t3.c1 --confirm-executed --record-version 7 \\
  --actor ada --reason 'the charge is in the list' \\
  --evidence 'receiver_query:GET /charges?key=invoice-42.t3.c1'
\`\`\`

Without \`--record-version\` the newest version is taken, so name the one you looked at: an answer
to an older one is refused. Instead of flags, \`--json-command\` takes one of the printed answers,
filled in. An answer goes to the question as a signal and waits there for a worker; \`--update\`
waits for the verdict; where the question's workflow is gone, it is written to the ledger.

Two more answers are for what is not unknown by itself. What waits because it looks like another
action in doubt goes to the run, and starts nothing but that wait's end:

\`\`\`sh
holdfast resolve invoice-42.t4.c1 --confirm-distinct invoice-42.t3.c1 \\
  --actor ada --reason 'two notices were ordered'
\`\`\`

A dispute ends with what you state, also in a run that is over; both outcomes stay on record:

\`\`\`sh
holdfast resolve invoice-42.t3.c1 --settle-dispute executed --external-id ch_81 \\
  --actor ada --reason 'the charge is in the list, the refusal was another one' \\
  --evidence 'receiver_query:GET /charges?key=invoice-42.t3.c1'
\`\`\`

## What a run may do

\`holdfast revoke\` lets what is in flight come to its end; \`holdfast cancel\` also tells the tools
at work to stop. Neither undoes anything. \`holdfast amend\` gives another goal or other grants,
\`holdfast top-up\` adds to the budget, \`holdfast approve <action-id>\` shows what waits to be
allowed, with the input as it is stored, and with \`--actor\` and \`--reason\` allows it:

\`\`\`sh
holdfast approve invoice-42.t3.c1
holdfast approve invoice-42.t3.c1 --bound sha256:… --actor ada --reason 'as in the order'
\`\`\`

Without \`--bound\` what it asks for now is taken, so name what you looked at. \`holdfast state\`
shows what is granted, used and waited for; \`holdfast inbox\` lists the waiting of all runs. The
same commands as JSON, for the Web UI: [commands](commands.md).

All of them write the ledger first, and what it refuses the run is not told. Where no ledger is
named the signal is sent alone, and it is said (\`recordedFirst: false\`). One that is named and not
there is refused, before anything is sent: to send the signal all the same, leave out \`--ledger\`
and HOLDFAST_LEDGER_URL.

## A restored ledger

A copy of a ledger lacks what was written after it was made. Stop all workers, put the copy in
place (the file alone, without an old \`-wal\` and \`-shm\`), run \`holdfast ledger restore\`, start
the workers. Every run that was opened before stops with \`ledger_mismatch\` and sends nothing more:
an action that the copy does not have may have taken effect all the same. \`holdfast resume\` ends
such a run on record; what is still to be done is a new run, once its receivers were looked at.

## A plan

Steps are carried out in this order, each when the one before it has its outcome:

\`\`\`json
{ "steps": [{ "tool": "open_ticket", "input": { "subject": "Broken lamp" } }] }
\`\`\`

\`input\` is what the tool takes. With \`"onUnknown": "hold"\`, the default, an unknown step is
waited for until its question is settled, and one without its effect ends the run as blocked; with
\`"continue"\` the next step follows whatever became of this one. \`name\` is a position of your own
in place of t1.c1, t2.c1 ….

A run id is spent by its first start, also by one that is refused: correct the plan and choose
another id.
`;

export function cliPage(): string {
  const program = cliProgram(
    { connected: async () => undefined, alone: async () => undefined },
    '0.0.0',
  );
  const codes = Object.values(exitCodes).map(({ code, meaning }) => `| ${code} | ${meaning} |\n`);
  return [
    HEAD,
    `\n## Options of every command\n\n${optionTable(program)}`,
    ...program.commands.flatMap(commandTexts),
    NOTES,
    `\n## Exit codes\n\n| code | meaning |\n|---|---|\n${codes.join('')}`,
  ].join('');
}

/** A group of commands is told by its parts. */
function commandTexts(command: Command): string[] {
  if (command.commands.length === 0) return [commandText(command)];
  return command.commands.map((each) => commandText(each, `${command.name()} `));
}

function commandText(command: Command, group = ''): string {
  const args = command.registeredArguments.map((each) => ` <${each.name()}>`).join('');
  const options = command.options.length === 0 ? '' : `\n${optionTable(command)}`;
  const title = `holdfast ${group}${command.name()}${args}`;
  return `\n## ${title}\n\n${sentence(command.description())}\n${options}`;
}

function optionTable(command: Command): string {
  return `| option | meaning |\n|---|---|\n${command.options.map(optionLine).join('')}`;
}

function optionLine(option: Option): string {
  const needed = option.mandatory ? ' (needed)' : '';
  return `| \`${option.flags}\` | ${option.description}${needed} |\n`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
