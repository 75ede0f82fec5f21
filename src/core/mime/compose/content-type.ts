/**
 * Content types that callers give for attachments: RFC 2045 §5.1 and RFC 6838 §4.2.
 */
import { ServiceError } from '../../errors.ts';
import { MAX_CONTENT_TYPE_CHARS, MAX_MEDIA_NAME_CHARS, MAX_PARAMETER_CHARS } from '../limits.ts';

export interface ContentType {
  /** `type/subtype`, lower-case. */
  readonly mediaType: string;
  /** Lower-case names, each once; values decoded, printable ASCII. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** RFC 2045 §5.1: printable ASCII without `tspecials`. */
const TOKEN = "[\\w!#$%&'*+.^`{|}~-]+";
// Input: at most 1,000 characters, MAX_CONTENT_TYPE_CHARS.
const MEDIA_TYPE = new RegExp(`^[ \\t]*(${TOKEN})/(${TOKEN})[ \\t]*(?=;|$)`);
// Input: at most 1,000 characters, MAX_CONTENT_TYPE_CHARS.
const PARAMETER = new RegExp(
  `;[ \\t]*(?:(${TOKEN})=(?:(${TOKEN})|"((?:[ !#-\\[\\]-~]|\\\\[ -~])*)"))?[ \\t]*(?=;|$)`,
  'y',
);

/** Names that we write ourselves, or that mean nothing in base64. */
const DROPPED = new Set(['name', 'filename', 'boundary']);

/**
 * Reads a content type. Parameters such as `charset` are kept; `name`, `boundary` and those in the extended form of
 * RFC 2231 are dropped, as are repeats. `field` names it in errors. Throws `invalid_content_type`.
 */
export function parseContentType(text: string, field: string): ContentType {
  const invalid = (): ServiceError =>
    new ServiceError('invalid_content_type', { values: { field, value: text } });
  const match = text.length > MAX_CONTENT_TYPE_CHARS ? null : MEDIA_TYPE.exec(text);
  if (match === null) throw invalid();
  const [matched, type = '', subtype = ''] = match;
  if (type.length > MAX_MEDIA_NAME_CHARS || subtype.length > MAX_MEDIA_NAME_CHARS) throw invalid();

  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = matched.length;
  for (let at = matched.length; at < text.length; at = PARAMETER.lastIndex) {
    const parameter = PARAMETER.exec(text);
    if (parameter === null) throw invalid();
    const [, name, token, quoted] = parameter;
    if (name === undefined) continue;
    const value = token ?? (quoted ?? '').replace(/\\(.)/g, '$1');
    if (value.length > MAX_PARAMETER_CHARS || name.length > MAX_MEDIA_NAME_CHARS) throw invalid();
    const key = name.toLowerCase();
    if (!DROPPED.has(key) && !key.includes('*') && !parameters.has(key)) parameters.set(key, value);
  }
  return { mediaType: `${type}/${subtype}`.toLowerCase(), parameters: [...parameters] };
}

/** True if parseContentType accepts the text. */
export function isContentType(text: string): boolean {
  try {
    return parseContentType(text, 'content_type').mediaType !== '';
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/**
 * The content type under which given bytes may travel in base64. `multipart/*` and `message/*` may not (RFC 2045
 * §6.4, RFC 2046 §5.2.1), and any other encoding would change bytes that contain long lines, bare line ends or 8-bit
 * text, and so break the signatures of a forwarded mail. So they go as octets: the file name (`.eml`) tells the
 * reader's program what they are, and the program neither shows a foreign mail nor fetches an external body unasked.
 */
export function toAttachmentType(contentType: ContentType): ContentType {
  return /^(?:multipart|message)\//.test(contentType.mediaType)
    ? { mediaType: 'application/octet-stream', parameters: [] }
    : contentType;
}
