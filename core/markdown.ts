// Text from outside on the Web UI's pages. Details and summaries are Markdown there, with raw HTML;
// timelines and lists show the same summary as it is written.

import { limits } from './limits.ts';

/** The ones its renderer takes back; before any other it would show the backslash. */
const SPECIAL = /[\\`*_{}[\]<>()#+\-.!|~&$^:]/g;

/** No Markdown: starts no list, and emphasizes, links and embeds nothing. */
const PLAIN =
  /^(?!\d+[.)])[\p{L}\p{N}](?:[\p{L}\p{N} .…,:;?!@()'"’-]|(?<=[\p{L}\p{N}])_(?=[\p{L}\p{N}]))*$/u;

/** One line, bounded, and nothing in it has a meaning in Markdown or HTML. */
export function escaped(text: string, charsMax = 200): string {
  return cut(text, charsMax).replaceAll(SPECIAL, (special) => `\\${special}`);
}

/**
 * One line that reads the same as text and as Markdown: as it is where it can be, else in
 * backticks, in which nothing has a meaning.
 */
export function summaryText(text: string, charsMax = 120): string {
  const line = cut(text, charsMax);
  return line === '' || PLAIN.test(line) ? line : inBackticks(line);
}

/** To copy as it is: between backticks nothing has a meaning, a backslash neither. */
export function codeSpan(text: string, charsMax = 400): string {
  return inBackticks(cut(text, charsMax));
}

function inBackticks(line: string): string {
  return `\`${line.replaceAll('`', "'")}\``;
}

/** Pretty-printed, because the screen's input field reformats one-line JSON and loses a click. */
export function fencedJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2).replaceAll('`', '\\u0060');
  return `\`\`\`json\n${json}\n\`\`\``;
}

function cut(text: string, charsMax: number): string {
  const line = oneLine(text);
  return line.length > charsMax ? `${line.slice(0, charsMax).toWellFormed()}…` : line;
}

function oneLine(text: string): string {
  return text
    .slice(0, limits.noteCharsMax)
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}
