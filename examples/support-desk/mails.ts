// Support mails as JSON lines. A record ends at LF and nowhere else: inside of one, U+2028, U+2029
// and escaped line breaks are text.

import * as z from 'zod';

const LF = '\n';

export const mailSchema = z.strictObject({
  id: z.string().min(1),
  from: z.string().min(1),
  subject: z.string(),
  body: z.string(),
});
export type Mail = z.infer<typeof mailSchema>;

/** Throws naming the line that is no mail; a file without its last LF was cut off. */
export function mailsIn(text: string): readonly Mail[] {
  const lines = text.split(LF);
  if (lines.pop() !== '')
    throw new Error(`line ${lines.length + 1} does not end: the file was cut`);
  return lines.map((line, index) => {
    try {
      return mailSchema.parse(JSON.parse(line));
    } catch (error) {
      throw new Error(
        `line ${index + 1} is no mail: ${error instanceof Error ? error.message : ''}`,
      );
    }
  });
}
