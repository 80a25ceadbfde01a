// Payloads as the ledger stores them.

import type { Digest, Json } from '../core/digest.ts';
import type { Room } from './room.ts';

/** Null without a ledger, without a digest, and where the bytes were erased. */
export async function storedJson({ ledger }: Pick<Room, 'ledger'>, digest: Digest | null) {
  if (ledger === null || digest === null) return null;
  const bytes = await ledger.payload(digest);
  return bytes === null ? null : (JSON.parse(new TextDecoder().decode(bytes)) as Json);
}
