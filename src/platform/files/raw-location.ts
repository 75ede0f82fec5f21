/** The location of raw messages: small ones in the database, others as files. */
import { RAW_INLINE_MAX_BYTES } from '../base/limits.ts';
import type { Content, RecordedRaw } from './file-ports.ts';
import { sizeOf } from './content.ts';

/** @param id of the email, or of the variant */
export function locationOfRaw(raw: Content, accountId: string, id: string): RecordedRaw {
  const rawSizeBytes = sizeOf(raw);
  return isInline(raw)
    ? { rawSizeBytes, raw: raw.bytes, rawPath: null }
    : { rawSizeBytes, raw: null, rawPath: rawStoragePath(accountId, id) };
}

/** It goes into the database, and needs no file. */
export function isInline(raw: Content): raw is Extract<Content, { kind: 'bytes' }> {
  return raw.kind === 'bytes' && raw.bytes.length <= RAW_INLINE_MAX_BYTES;
}

/** Separate from the attachments, whose paths begin with an account's name: no account's name begins with `_`. */
function rawStoragePath(accountId: string, id: string): string {
  return `_raw/${accountId}/${id}.eml`;
}
