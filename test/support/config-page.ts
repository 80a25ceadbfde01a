// docs/configuration.md is this: the table of settings, printed.
// `npx vitest run test/core/config.test.ts -u` writes it anew.

import { type ConfigRow, configTable } from '../../core/config-table.ts';

const HEAD = `# Configuration

Everything is set by environment variables, checked when a process starts. A process that finds a
bad, contradictory or unknown \`HOLDFAST_\` variable refuses to start and names all of them at once.
This page is printed from the table in \`core/config-table.ts\`; a test keeps it true.

| variable | default | meaning |
|---|---|---|
`;

const TAIL = `
"needed" means: a worker refuses to start without it; a client may do without, and then its
commands reach a run as signals only, not through the ledger.

Two more variables belong to development: \`TEMPORAL_CLI\` and \`TEMPORAL_TEST_SERVER\` name the
binaries of the embedded servers where they should not be looked for or installed.
`;

export function configPage(): string {
  const rows = Object.values<ConfigRow>(configTable);
  return HEAD + rows.map(line).join('') + TAIL;
}

function line(row: ConfigRow): string {
  const fallback = row.fallback === null ? '' : `\`${row.fallback}\``;
  const shown = row.need === 'worker' ? 'needed' : fallback;
  return `| \`${row.env}\` | ${shown} | ${row.doc.replaceAll('|', '\\|')} |\n`;
}
