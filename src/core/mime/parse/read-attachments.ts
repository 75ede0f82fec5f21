/**
 * Attachments of a received message: names, locations, and the contents of a winmail.dat.
 */
import { displayFilename } from '../text/filename.ts';
import { fieldValue, parseHeaderBlock } from './header-fields.ts';
import { contentIdsIn } from '../text/content-ids.ts';
import { htmlToText } from '../text/html-to-text.ts';
import { decodeHeaderText } from '../text/header-text.ts';
import { MAX_UNPACKED_ATTACHMENTS } from '../limits.ts';
import { isBlank, type BodyText } from './body-text.ts';
import type { AttachmentContent, ParsedAttachment } from './parsed-message.ts';
import type { ReceivedPart } from './received-part.ts';
import { unpackTnef, type TnefAttachment, type TnefContent } from './tnef.ts';
import { decodeTransfer } from './transfer-decoding.ts';

export interface Attachments {
  readonly attachments: readonly ParsedAttachment[];
  /** Texts that only a winmail.dat contained. */
  readonly text: string | null;
  readonly html: string | null;
}

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;
const OCTETS = 'application/octet-stream';

/** Names of parts that come without one. */
const MADE_UP_NAMES: Readonly<Record<string, string>> = {
  'text/calendar': 'invite.ics',
  'message/delivery-status': 'delivery-status.txt',
  'message/disposition-notification': 'disposition-notification.txt',
  'message/feedback-report': 'feedback-report.txt',
  'text/rfc822-headers': 'headers.txt',
  'application/pkcs7-mime': 'smime.p7m',
  'application/x-pkcs7-mime': 'smime.p7m',
  'application/pkcs7-signature': 'smime.p7s',
  'application/x-pkcs7-signature': 'smime.p7s',
  'application/pgp-signature': 'signature.asc',
  'application/pgp-encrypted': 'version.txt',
  'application/ms-tnef': 'winmail.dat',
  'application/pdf': 'attachment.pdf',
  'text/plain': 'attachment.txt',
  'text/html': 'attachment.html',
  'text/csv': 'attachment.csv',
  'image/jpeg': 'image.jpg',
  'image/png': 'image.png',
  'image/gif': 'image.gif',
  'image/svg+xml': 'image.svg',
};

/** @param body the texts of the message; its HTML is searched for references to the attachments (`cid:`, RFC 2392) */
export function readAttachments(parts: readonly ReceivedPart[], body: BodyText): Attachments {
  const shown = contentIdsIn(body.html ?? '');
  const repeats = createRepeats(body);
  const attachments: ParsedAttachment[] = [];
  let tnefText: string | null = null;
  let tnefHtml: string | null = null;
  for (const part of parts) {
    const left = MAX_UNPACKED_ATTACHMENTS - attachments.length;
    const unpacked = part.keep === 'tnef' && !part.isCut ? unpackTnef(decodedBytes(part)) : null;
    if (unpacked === null || unpacked.attachments.length > left) {
      if (part.keep === 'tnef') part.defects.add('tnef_not_unpacked');
      attachments.push(toAttachment(part, shown));
      continue;
    }
    if (unpacked.isDamaged) part.defects.add('tnef_not_unpacked');
    const isFirst = tnefText === null && tnefHtml === null;
    const isEmpty = unpacked.attachments.length === 0 && unpacked.text === null && unpacked.html === null;
    const isTextShown = (isFirst && isBlank(body)) || repeats(unpacked);
    tnefText ??= unpacked.text;
    tnefHtml ??= unpacked.html;
    // What is not shown must not be lost.
    if (isEmpty || !unpacked.isWhole || !isTextShown) attachments.push(toAttachment(part, shown));
    const inTnef = unpacked.html === null ? shown : contentIdsIn(unpacked.html);
    attachments.push(...unpacked.attachments.map((file) => fromTnef(file, part, inTnef)));
  }
  return { attachments, text: tnefText, html: tnefHtml };
}

/** Whether the message has the words of a winmail.dat: Outlook writes a text beside it. Its own are read once, and only when asked for. */
function createRepeats(body: BodyText): (content: TnefContent) => boolean {
  let own: readonly string[] | null = null;
  return ({ text, html }) => {
    own ??= [lettersOf(body.text ?? ''), lettersOf(htmlToText(body.html ?? ''))];
    const words = lettersOf(text ?? htmlToText(html ?? ''));
    return own.some((letters) => letters.includes(words));
  };
}

const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, '');

/** The kept bytes of a part, decoded. */
export function decodedBytes(part: ReceivedPart): Buffer {
  return decodeTransfer(part.kept.bytes(), part.encoding);
}

function toAttachment(part: ReceivedPart, shown: ReadonlySet<string>): ParsedAttachment {
  return {
    partPath: part.path,
    filename: displayFilename(part.filename ?? madeUpName(part)),
    contentType: toContentType(part),
    charset: part.parameters.get('charset') ?? null,
    contentId: part.contentId,
    inline: isShown(part, shown),
    content: toContent(part),
  };
}

/** A calendar is an invitation by its method alone, also where it is sent on (RFC 6047 §2.4). */
function toContentType({ mediaType, parameters }: ReceivedPart): string {
  if (mediaType !== 'text/calendar') return mediaType;
  const kept = ['method', 'charset'].flatMap((name) => {
    const value = parameters.get(name) ?? '';
    return /^[\w-]{1,40}$/.test(value) ? [`; ${name}=${value}`] : [];
  });
  return mediaType + kept.join('');
}

function toContent({ start, end, source, encoding }: ReceivedPart): AttachmentContent {
  if (source === null) return { kind: 'range', start, end, encoding };
  return { kind: 'bytes', bytes: decodeTransfer(source.subarray(start, end), encoding) };
}

/**
 * Seen in practice: attached files, such as a PDF, with `inline` and a Content-ID (Apple Mail); so the field alone counts
 * only for images.
 */
function isShown({ contentId, isInline, mediaType }: ReceivedPart, shown: ReadonlySet<string>): boolean {
  if (contentId === null) return false;
  return shown.has(contentId) || (isInline && mediaType.startsWith('image/'));
}

function fromTnef(file: TnefAttachment, part: ReceivedPart, shown: ReadonlySet<string>): ParsedAttachment {
  const contentType = file.contentType?.trim().toLowerCase() ?? OCTETS;
  return {
    partPath: part.path,
    filename: displayFilename(file.filename ?? ''),
    contentType: MEDIA_TYPE.test(contentType) ? contentType : OCTETS,
    charset: null,
    contentId: file.contentId,
    inline: file.contentId !== null && shown.has(file.contentId),
    content: { kind: 'bytes', bytes: file.bytes },
  };
}

function madeUpName(part: ReceivedPart): string {
  if (part.mediaType === 'message/rfc822' || part.mediaType === 'message/global') {
    const { fields } = parseHeaderBlock(decodedBytes(part));
    const subject = decodeHeaderText(fieldValue(fields, 'subject') ?? '').replace(/[/\\:]/g, '_');
    return `${subject.trim() === '' ? 'message' : subject}.eml`;
  }
  return (
    MADE_UP_NAMES[part.mediaType] ?? (part.mediaType.startsWith('text/') ? 'attachment.txt' : 'attachment')
  );
}
