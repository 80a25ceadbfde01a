// Marks as a person reads them: in the question, at the command line.

import type { Marks } from './fact-fields.ts';

export function marksText(marks: Marks): string {
  const said = Object.entries(marks).map(([name, value]) => `${name} ${value}`);
  return said.join(', ') || '(nothing)';
}
