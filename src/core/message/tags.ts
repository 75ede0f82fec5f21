/**
 * A caller's notes on an email for its own use: tags, by which emails are listed, and metadata, which is returned in every
 * record and event. Neither is a part of the message.
 */
import { invalidRequest, ServiceError } from '../errors.ts';
import { refuse } from '../mistakes.ts';
import { findUnstorable } from '../storable-text.ts';
import { MAX_METADATA_BYTES, MAX_TAG_CHARS, MAX_TAGS } from './limits.ts';

/** A JSON object. */
export type Metadata = Readonly<Record<string, unknown>>;

/** Letters and digits of any script, and signs that need no escape in a list or a URL's path. */
const TAG = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_.:@+-]*$/u;

/** The tag in the form in which it is stored and compared; null when the text is not a tag. Letter case counts. */
export function parseTag(text: string): string | null {
  const tag = text.normalize('NFC');
  return TAG.test(tag) && [...tag].length <= MAX_TAG_CHARS ? tag : null;
}

/** Each tag once, order kept. Mistakes: `invalid_tag`, `invalid_request`. */
export function readTags(texts: readonly string[], note = refuse): readonly string[] {
  if (texts.length > MAX_TAGS) {
    note(invalidRequest('too_many_entries', { field: 'tags', limit: MAX_TAGS }));
    return [];
  }
  const tags = new Set<string>();
  for (const text of texts) {
    const tag = parseTag(text);
    if (tag === null) note(new ServiceError('invalid_tag', { values: { value: text } }));
    else tags.add(tag);
  }
  return [...tags];
}

/**
 * Metadata as JSON on one line; null for an empty object. Mistakes: `metadata_too_large`, and `invalid_text` for text that the
 * database can't store: U+0000 and lone surrogates.
 */
export function formatMetadata(metadata: Metadata, note = refuse): string | null {
  const json = JSON.stringify(metadata);
  if (json === '{}') return null;
  if (Buffer.byteLength(json) > MAX_METADATA_BYTES) {
    note(new ServiceError('metadata_too_large', { values: { limit: MAX_METADATA_BYTES } }));
  }
  const field = findUnstorable(metadata, 'metadata');
  if (field !== null) note(new ServiceError('invalid_text', { values: { field } }));
  return json;
}
