// Text from outside inside the Web UI's Markdown, which renders raw HTML.

import { limits } from '../core/limits.ts';

const SPECIAL = /[\\`*_{}[\]<>()#+\-.!|~&"'$^=:]/g;

/** One line, bounded, and nothing in it has a meaning in Markdown or HTML. */
export function escaped(text: string, charsMax = 200): string {
  const line = oneLine(text);
  const shown = line.length > charsMax ? `${line.slice(0, charsMax).toWellFormed()}…` : line;
  return shown.replaceAll(SPECIAL, (special) => `\\${special}`);
}

/** Pretty-printed, because the screen's input field reformats one-line JSON and loses a click. */
export function fencedJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2).replaceAll('`', '\\u0060');
  return `\`\`\`json\n${json}\n\`\`\``;
}

function oneLine(text: string): string {
  return text
    .slice(0, limits.noteCharsMax)
    .toWellFormed()
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}
