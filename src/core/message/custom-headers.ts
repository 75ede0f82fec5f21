/**
 * Header fields that a caller adds to its email: a list of standard ones, and any `X-…`. Fields that the service writes
 * itself (addresses, dates, Message-IDs, MIME) are not among them, nor are fields that mail servers write on the way.
 */
import { invalidRequest, ServiceError } from '../errors.ts';
import { refuse, type NoteMistake } from '../mistakes.ts';
import {
  MAX_CUSTOM_HEADER_CHARS,
  MAX_CUSTOM_HEADER_NAME_CHARS,
  MAX_CUSTOM_HEADERS,
  MAX_CUSTOM_HEADERS_CHARS,
} from './limits.ts';

/** Values by name, as the caller wrote both. */
export type CustomHeaders = Readonly<Record<string, string>>;

/** Read by machines: an encoded word (RFC 2047 §5) would mean nothing in them. */
const STRUCTURED = [
  'Accept-Language',
  'Expires',
  'Feedback-ID',
  'Importance',
  'List-Archive',
  'List-Help',
  'List-Owner',
  'List-Post',
  'List-Subscribe',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'Precedence',
  'Priority',
  'Reply-By',
  'Sensitivity',
] as const;

/** RFC 5322 §3.6.5, RFC 2919 and RFC 4021: text that people read, in any language. */
const UNSTRUCTURED = ['Comments', 'Keywords', 'List-Id', 'Organization'] as const;

/** Header fields that a caller may set, besides any `X-…`. */
export const STANDARD_HEADERS: readonly string[] = [...STRUCTURED, ...UNSTRUCTURED].sort();

const STRUCTURED_KEYS = new Set(STRUCTURED.map((name) => name.toLowerCase()));
const STANDARD_KEYS = new Set(STANDARD_HEADERS.map((name) => name.toLowerCase()));

/**
 * A relay records in these which Message-ID it replaced. A copy of the email in the Sent mailbox is matched by them, so
 * a caller must not set them.
 */
const RESERVED_KEYS = new Set(['x-google-original-message-id', 'x-microsoft-original-message-id']);

/** RFC 5322 §2.2 allows more, which some programs mishandle. */
const EXTENSION = /^x-[a-z0-9](?:[a-z0-9_.-]*[a-z0-9])?$/;

const PRINTABLE_ASCII = /^[ -~]*$/;

/** A field to be written. */
export interface CustomHeader {
  readonly name: string;
  readonly value: string;
  /** The name of the value in errors. */
  readonly field: string;
  /** The value is written as it is; only an unstructured field may contain encoded words. */
  readonly isStructured: boolean;
}

/**
 * Checks a caller's header fields. White space around values does not count. Control characters are refused when the fields are
 * written. Mistakes: `header_not_allowed`, `duplicate_field`, `invalid_text`, `invalid_request`.
 */
export function readCustomHeaders(headers: CustomHeaders, note = refuse): readonly CustomHeader[] {
  const entries = Object.entries(headers);
  if (entries.length > MAX_CUSTOM_HEADERS) {
    note(invalidRequest('too_many_entries', { field: 'headers', limit: MAX_CUSTOM_HEADERS }));
    return [];
  }
  const seen = new Set<string>();
  let chars = 0;
  return entries.map(([name, given]) => {
    const field = `headers.${name}`;
    const key = name.toLowerCase();
    const value = given.trim();
    const isStructured = STRUCTURED_KEYS.has(key);
    noteName(name, seen, note);
    seen.add(key);
    if (value === '') note(invalidRequest('empty', { field }));
    if (value.length > MAX_CUSTOM_HEADER_CHARS) {
      note(invalidRequest('too_long', { field, limit: MAX_CUSTOM_HEADER_CHARS }));
    }
    chars += name.length + value.length;
    if (chars > MAX_CUSTOM_HEADERS_CHARS) {
      note(invalidRequest('too_long', { field: 'headers', limit: MAX_CUSTOM_HEADERS_CHARS }));
    }
    // Control characters have an error code of their own: see `customTokens` of mime/compose/header.ts.
    if (isStructured && !PRINTABLE_ASCII.test(value) && !/[\u0000-\u001f\u007f-\u009f]/.test(value)) {
      note(new ServiceError('invalid_text', { values: { field } }));
    }
    return { name, value, field, isStructured };
  });
}

/** @param seen names in lower case */
function noteName(name: string, seen: ReadonlySet<string>, note: NoteMistake): void {
  const key = name.toLowerCase();
  const isKnown = STANDARD_KEYS.has(key) || (EXTENSION.test(key) && !RESERVED_KEYS.has(key));
  if (!isKnown || name.length > MAX_CUSTOM_HEADER_NAME_CHARS) {
    note(new ServiceError('header_not_allowed', { values: { field: name }, field: `headers.${name}` }));
  }
  if (seen.has(key)) note(new ServiceError('duplicate_field', { values: { field: `headers.${name}` } }));
}
