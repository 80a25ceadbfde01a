// What receivers and adapters name: text that the ledger's facts can hold. A name is an identity,
// so one that does not fit is never cut: the answer that carries it is none. Words are cut.

import * as z from 'zod';
import { partSchema } from '../core/fact-fields.ts';
import { limits } from '../core/limits.ts';

function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** External ids and object versions. */
export const receiverNameSchema = z.string().min(1).max(limits.idCharsMax).refine(isWellFormed);

export const receiverPartsSchema = z
  .array(
    partSchema.extend({
      name: partSchema.shape.name.max(limits.partNameCharsMax).refine(isWellFormed),
    }),
  )
  .min(1)
  .max(limits.partsMax);
