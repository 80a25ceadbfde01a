// Lines for a terminal. What came from outside may hold control characters; they are shown, never
// obeyed, and cannot begin a line of their own.

// Controls, line and paragraph separators, marks that turn the direction of writing.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

function printable(text: string): string {
  return text.replace(
    UNPRINTABLE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Each entry is one line, whatever is in it. */
export function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${printable(line)}\n`).join('');
}

/** Pretty JSON, ready to paste; its own line breaks stay. */
export function jsonLines(value: unknown, indent: string): string[] {
  return JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => indent + line);
}

/** "1 effect", "2 effects" */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
