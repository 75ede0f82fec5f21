/**
 * One part of a received message: its header's values, the location of its body, and the bytes of it kept in memory.
 */
import { ByteCollector } from './byte-collector.ts';
import type { LeafDigest } from './leaf-digest.ts';
import { fieldValue, type HeaderField } from './header-fields.ts';
import { trimEnds } from '../../trim-ends.ts';
import { MAX_MEDIA_NAME_CHARS, MAX_RECEIVED_BOUNDARY_CHARS } from '../limits.ts';
import type { Cms } from './cms.ts';
import type { ParseDefect } from './parsed-message.ts';
import { readParameters } from './read-parameters.ts';
import type { TransferEncoding } from './transfer-decoding.ts';

/**
 * The bytes of a body that are kept: `text` to be read as text, `other_text` where there is no other, `report` the whole
 * body, `contained` the head of a message, `tnef` a winmail.dat, `cms` an S/MIME message, `calendar` an invitation,
 * `preamble` in case no part follows.
 */
export type Keep =
  'text' | 'other_text' | 'report' | 'contained' | 'tnef' | 'cms' | 'calendar' | 'preamble' | 'nothing';

export interface ReceivedPart {
  /** RFC 9051 §6.4.5, such as `1.2`; empty for a multipart that is the whole message. */
  path: string;
  readonly fields: readonly HeaderField[];
  /** `type/subtype`, lower-case; an unreadable one becomes `text/plain` (RFC 2045 §5.2) or `application/octet-stream`. */
  readonly mediaType: string;
  /** Parameters of the content type. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly isAttachment: boolean;
  /** Declared by the part itself (RFC 2183 §2.1). */
  readonly isInline: boolean;
  /** As sent; null when there is none. */
  readonly filename: string | null;
  readonly contentId: string | null;
  encoding: TransferEncoding;
  /** The body has begun, and its encoding is what the label says. */
  isEncodingRead: boolean;
  /** null when the part is not a multipart. */
  readonly boundary: string | null;
  readonly children: ReceivedPart[];
  readonly defects: Set<ParseDefect>;
  /** The body, in bytes of the raw message, or of `source`; `end` is exclusive. */
  start: number;
  end: number;
  /** The bytes that contain it, if not the raw message; see openEncodedMultipart. */
  source: Buffer | null;
  keep: Keep;
  readonly kept: ByteCollector;
  /** Not all of the body was kept. */
  isCut: boolean;
  /** Digest of its body, if that is not kept as a text. */
  digest: LeafDigest | null;
  /** What an S/MIME file is; null for any other part, and before openSigned. */
  cms: Cms['kind'] | null;
  /** See decodeTextPart: a text is decoded once. */
  decodedText: string | null;
}

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;
const REPORT_TYPES = new Set([
  'message/delivery-status',
  'message/global-delivery-status',
  'message/feedback-report',
  'message/disposition-notification',
  'message/global-disposition-notification',
  // Notices of Amazon SES
  'application/json',
  // RFC 8460 §6.4
  'application/tlsrpt+gzip',
  'application/tlsrpt+json',
]);
const CONTAINED_TYPES = new Set([
  'message/rfc822',
  'message/global',
  'message/partial',
  'text/rfc822-headers',
  'message/global-headers',
]);

/** Makes a part from its header fields. Its body begins at `start`. */
export function createPart(
  fields: readonly HeaderField[],
  parent: ReceivedPart | null,
  start: number,
): ReceivedPart {
  const defects = new Set<ParseDefect>();
  const typeText = fieldValue(fields, 'content-type');
  const { value, parameters } = readParameters(typeText ?? '');
  const dispositionField = readParameters(fieldValue(fields, 'content-disposition') ?? '');
  const boundary = readBoundary(value, parameters, defects);
  const mediaType = toMediaType(typeText === null ? null : value, parent, boundary);
  const filename = dispositionField.parameters.get('filename') ?? parameters.get('name') ?? null;
  const isAttachment = dispositionField.value === 'attachment';
  const encoding = toEncoding(fieldValue(fields, 'content-transfer-encoding'), defects);
  return {
    path: toPath(parent, boundary !== null),
    fields,
    mediaType,
    parameters,
    isAttachment,
    isInline: dispositionField.value === 'inline',
    filename: filename === null || filename.trim() === '' ? null : filename,
    contentId: toContentId(fieldValue(fields, 'content-id')),
    encoding: boundary === null ? encoding : 'identity',
    isEncodingRead: false,
    boundary,
    children: [],
    defects,
    start,
    end: start,
    source: null,
    keep:
      boundary !== null
        ? 'preamble'
        : isSmime(mediaType, parameters, filename, parent === null)
          ? 'cms'
          : toKeep(mediaType, filename ?? '', isAttachment),
    kept: new ByteCollector(),
    isCut: false,
    digest: null,
    cms: null,
    decodedText: null,
  };
}

function toPath(parent: ReceivedPart | null, isMultipart: boolean): string {
  if (parent === null) return isMultipart ? '' : '1';
  const number = parent.children.length + 1;
  return parent.path === '' ? `${number}` : `${parent.path}.${number}`;
}

function toMediaType(value: string | null, parent: ReceivedPart | null, boundary: string | null): string {
  if (value === null || value === '') {
    // RFC 2046 §5.1.5.
    return value === null && parent?.mediaType === 'multipart/digest' ? 'message/rfc822' : 'text/plain';
  }
  if (!MEDIA_TYPE.test(value) || value.length > 2 * MAX_MEDIA_NAME_CHARS) {
    return /^text\b/.test(value) ? 'text/plain' : 'application/octet-stream';
  }
  // A multipart without a boundary can't be split; shown as text, nothing of it is lost.
  return value.startsWith('multipart/') && boundary === null ? 'text/plain' : value;
}

function readBoundary(
  value: string,
  parameters: ReadonlyMap<string, string>,
  defects: Set<ParseDefect>,
): string | null {
  if (!value.startsWith('multipart/')) return null;
  const given = (parameters.get('boundary') ?? '').trimEnd();
  if (given !== '' && given.length <= MAX_RECEIVED_BOUNDARY_CHARS) return given;
  defects.add('missing_boundary');
  return null;
}

function toEncoding(text: string | null, defects: Set<ParseDefect>): TransferEncoding {
  const value = trimEnds(readParameters(text ?? '7bit').value, (character) => /["'\s]/.test(character));
  if (value === 'base64' || value === 'quoted-printable') return value;
  // Not a standard's; Outlook and old gateways write it.
  if (/^(?:x-)?uu(?:e|encode)?$/.test(value)) return 'uuencode';
  // RFC 2045 §6.4 would treat such a part as octets.
  if (!/^(?:7-?bit|8-?bit|binary|none|)$/.test(value)) defects.add('unknown_encoding');
  return 'identity';
}

function toContentId(text: string | null): string | null {
  // Comments may surround the brackets.
  const [, bracketed] = /<([^<>]+)>/.exec(text ?? '') ?? [];
  const id = (bracketed ?? (text ?? '').trim().replace(/^<|>$/g, '')).trim();
  return id === '' || id.length > 998 ? null : id;
}

/**
 * RFC 8551 §3.2 and §3.9: an S/MIME message by its type or file name. A signed document that is attached (`invoice.xml.p7m`) is
 * none.
 */
function isSmime(
  mediaType: string,
  parameters: ReadonlyMap<string, string>,
  filename: string | null,
  isMessage: boolean,
): boolean {
  const isNamed = filename?.toLowerCase() === 'smime.p7m';
  const isTyped = /^application\/(?:x-)?pkcs7-mime$/.test(mediaType);
  return isTyped ? isMessage || isNamed || parameters.has('smime-type') : isNamed;
}

/** RFC 5545 §8.1 and, seen in practice, files with other types. */
const isCalendar = (mediaType: string, filename: string): boolean =>
  mediaType === 'text/calendar' || mediaType === 'application/ics' || /\.ics$/i.test(filename);

/** RFC 7489 §7.2.1.1, RFC 8460 §5.1: receiver, domain, begin and end. */
const AGGREGATE_NAME = /^[^!\s]{1,255}![^!\s]{1,255}!\d{1,12}!\d{1,12}(?!\d)\S{0,255}\.(?:xml|json|gz|zip)$/i;

function toKeep(mediaType: string, filename: string, isAttachment: boolean): Keep {
  if (mediaType === 'application/ms-tnef' || filename.toLowerCase() === 'winmail.dat') return 'tnef';
  if (isCalendar(mediaType, filename)) return 'calendar';
  if (REPORT_TYPES.has(mediaType)) return 'report';
  if (AGGREGATE_NAME.test(filename) && (isAttachment || !mediaType.startsWith('text/'))) return 'report';
  if (CONTAINED_TYPES.has(mediaType)) return 'contained';
  if (isAttachment || !mediaType.startsWith('text/')) return 'nothing';
  return mediaType === 'text/plain' || mediaType === 'text/html' ? 'text' : 'other_text';
}
