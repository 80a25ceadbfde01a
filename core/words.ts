// Words from outside, before they are kept or sent: facts and Temporal's wire take neither half a
// surrogate pair nor text without end, and a cut can make such a half itself.

/** At most `charsMax` UTF-16 units; what is no Unicode becomes U+FFFD. */
export function boundedWords(text: string, charsMax: number): string {
  return text.slice(0, charsMax).toWellFormed();
}
