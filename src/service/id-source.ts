/** A part of the composition root: identifiers and random bytes. */
import { randomFillSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { IdSource } from '../platform/base/basics.ts';

/** Bytes fetched from the system at a time: one call for each id costs more than everything else needed for an id. */
const POOL_BYTES = 4096;
/** Random bytes that a UUID takes. */
const UUID_BYTES = 16;

export function createIdSource(): IdSource {
  let pool = Buffer.alloc(0);
  let used = 0;

  /** Each byte is used only once. */
  const randomBytes = (length: number): Buffer => {
    if (length > pool.length - used) {
      pool = randomFillSync(Buffer.allocUnsafeSlow(Math.max(POOL_BYTES, length)));
      used = 0;
    }
    used += length;
    return pool.subarray(used - length, used);
  };
  return { randomBytes, uuid: () => uuidv7({ random: randomBytes(UUID_BYTES) }) };
}
