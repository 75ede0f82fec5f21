/**
 * Reads a received message: RFC 5322 and MIME (RFC 2045 to 2049), RFC 2231, RFC 6532, leniently. One pass over the
 * bytes, then the texts are decoded. Throws only for an exceeded limit; time grows with the size only; memory holds
 * headers, texts and reports, within the limits, but no attachments: those are returned as ranges of the raw bytes.
 *
 * Of a field that may occur only once (From, Subject and so on), the first is kept: attackers and broken relays add a second
 * one, below the one that mail programs show. Lists of repeated To, Cc, Bcc, References and In-Reply-To are joined.
 */
import { cutText } from '../../cut-text.ts';
import { parseLenientAddressList, type LenientAddressList } from '../../address/lenient-address-list.ts';
import { addrSpec, type Address } from '../../address/address.ts';
import { readMessageDate } from '../../message/date.ts';
import type { Invitation } from '../../calendar/invitation.ts';
import { invitationText } from '../../calendar/invitation-text.ts';
import { readInvitation } from '../../calendar/read-invitation.ts';
import { normaliseMessageId } from '../../message/message-id.ts';
import { parseMessageIdLists, withoutAddresses } from '../../message/references.ts';
import { decodeTextPart, isBlank, readBody } from './body-text.ts';
import { openEncodedMultipart } from './encoded-multipart.ts';
import { openSigned } from './open-signed.ts';
import { fieldValue, fieldValues, messageIdsOf, type HeaderField } from './header-fields.ts';
import { decodeHeaderText, hasUnknownCharset } from '../text/header-text.ts';
import { declareUtf8 } from '../text/html-charset.ts';
import { renderHtml } from '../text/html-to-text.ts';
import { MAX_READ_SUBJECT_CHARS } from '../limits.ts';
import { MessageLimitError } from './message-limit-error.ts';
import { toParseLimits, type ParseLimitName, type ParseLimits } from './parse-limits.ts';
import type { ParsedMessage, ParseDefect, ReportPart } from './parsed-message.ts';
import { readProtection, withProtection } from './protection.ts';
import { decodedBytes, readAttachments } from './read-attachments.ts';
import { readFrom, withoutBroken } from './read-from.ts';
import type { ReceivedPart } from './received-part.ts';
import { StructureReader, type Structure } from './structure.ts';

/** Reads a message in chunks, so that it may be too large for memory. */
export interface MessageParser {
  /** The next bytes, any number of them. The chunk may be used again afterwards. */
  write(chunk: Buffer): void;
  /** Call it once, after the last byte. Throws MessageLimitError. */
  end(): ParsedMessage;
}

/** Limits are merged with the defaults. Throws RangeError for a limit that is not a positive integer. */
export function createMessageParser(limits: Partial<ParseLimits> = {}): MessageParser {
  const all = toParseLimits(limits);
  const reader = new StructureReader(all);
  return {
    write: (chunk) => reader.write(chunk),
    end: () => toMessage(reader.end(), all),
  };
}

/** Reads a message that is in memory. Throws like createMessageParser and its `end`. */
export function parseMessage(raw: Buffer, limits: Partial<ParseLimits> = {}): ParsedMessage {
  const parser = createMessageParser(limits);
  parser.write(raw);
  return parser.end();
}

/** Fields that RFC 5322 §3.6 and RFC 2045 allow only once. */
const ONCE = [
  'from',
  'sender',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'content-type',
  'content-transfer-encoding',
];

/** Fields with encoded words that are shown. */
const READ_FIELDS = ['from', 'sender', 'reply-to', 'to', 'cc', 'bcc', 'subject'];

function toMessage(structure: Structure, limits: ParseLimits): ParsedMessage {
  const { root } = structure;
  const { fields } = root;
  const passed = new Set([
    ...structure.passedLimits,
    ...openEncodedMultipart(root, limits),
    ...openSigned(root, limits),
  ]);
  const people = readPeople(fields, limits, passed, root.defects);
  const body = readBody(root);
  const unpacked = readAttachments(body.attachments, body);
  const sentHtml = isBlank(body) ? (unpacked.html ?? body.html) : body.html;
  const html = sentHtml === null ? null : declareUtf8(sentHtml);
  const text = isBlank(body) ? (unpacked.text ?? body.text) : body.text;
  const shownText = text !== null && text.trim() !== '' ? text : readHtmlText(html ?? '', root.defects);
  const parts = allParts(root);
  const invitation = firstInvitation(parts);
  const isWordless = shownText.trim() === '' && invitation !== null;
  const protection = readProtection(root, shownText);
  const message = {
    fields,
    ...readIdentity(fields, people, root.defects),
    ...people,
    subject: readSubject(fields),
    text: withProtection(isWordless ? invitationText(invitation) : shownText, protection),
    html,
    attachments: unpacked.attachments,
    invitation,
    reports: parts.flatMap(toReport),
    contentType: root.mediaType,
    reportType: root.parameters.get('report-type')?.toLowerCase() ?? null,
    protection,
    contentDigest: structure.contentDigest,
    fileDigests: structure.fileDigests,
    sizeBytes: structure.sizeBytes,
  };
  if (READ_FIELDS.some((name) => fieldValues(fields, name).some(hasUnknownCharset))) {
    root.defects.add('unknown_charset');
  }
  if (ONCE.some((name) => fieldValues(fields, name).length > 1)) root.defects.add('duplicate_field');
  if (passed.size > 0) root.defects.add('limit_passed');
  const defects: readonly ParseDefect[] = [...new Set(parts.flatMap((part) => [...part.defects]))];
  const [limit] = passed;
  if (limit !== undefined) throw new MessageLimitError(limit, { ...message, defects });
  return { ...message, defects };
}

function readHtmlText(html: string, defects: Set<ParseDefect>): string {
  const { text, isCut } = renderHtml(html);
  if (isCut) defects.add('html_text_cut');
  return text;
}

function readIdentity(
  fields: readonly HeaderField[],
  people: People,
  defects: Set<ParseDefect>,
): Pick<
  ParsedMessage,
  'messageId' | 'writtenMessageId' | 'otherMessageId' | 'inReplyTo' | 'references' | 'date'
> {
  const [written = null, ...others] = messageIdsOf(fields);
  const messageId = written === null ? null : normaliseMessageId(written);
  const otherMessageId = others.map(normaliseMessageId).find((id) => id !== messageId) ?? null;
  const hasIdField = fieldValue(fields, 'message-id') !== null;
  if (messageId === null) defects.add(hasIdField ? 'invalid_message_id' : 'missing_message_id');
  const dateText = fieldValue(fields, 'date');
  const read = readMessageDate(dateText ?? '');
  if (read === null) defects.add(dateText === null ? 'missing_date' : 'invalid_date');
  else if (read.isUncertain) defects.add('uncertain_date');
  const { from, sender, replyTo, to, cc, bcc } = people;
  const allAddresses = [...from, ...(sender === null ? [] : [sender]), ...replyTo, ...to, ...cc, ...bcc].map(
    addrSpec,
  );
  const listOf = (name: string) =>
    withoutAddresses(parseMessageIdLists(fieldValues(fields, name)), allAddresses);
  return {
    messageId,
    writtenMessageId: written === messageId ? null : written,
    otherMessageId,
    inReplyTo: listOf('in-reply-to'),
    references: listOf('references'),
    date: read?.date ?? null,
  };
}

type People = Pick<ParsedMessage, 'from' | 'sender' | 'replyTo' | 'to' | 'cc' | 'bcc'>;

function readPeople(
  fields: readonly HeaderField[],
  limits: ParseLimits,
  passed: Set<ParseLimitName>,
  defects: Set<ParseDefect>,
): People {
  let left = limits.addresses;
  const take = ({ addresses, hasBroken, isCut }: LenientAddressList): readonly Address[] => {
    left -= addresses.length;
    if (hasBroken) defects.add('invalid_address');
    if (isCut) passed.add('addresses');
    return addresses;
  };
  const read = (values: readonly string[]): readonly Address[] =>
    values.flatMap((value) => take(parseLenientAddressList(value, left)));
  const readOnce = (name: string): readonly Address[] =>
    withoutBroken(read(fieldValues(fields, name).slice(0, 1)));
  const from = take(readFrom(fields, left));
  if (from.length === 0) defects.add('missing_from');
  return {
    from,
    sender: readOnce('sender')[0] ?? null,
    replyTo: readOnce('reply-to'),
    to: read(fieldValues(fields, 'to')),
    cc: read(fieldValues(fields, 'cc')),
    bcc: read(fieldValues(fields, 'bcc')),
  };
}

function readSubject(fields: readonly HeaderField[]): string {
  const text = decodeHeaderText(fieldValue(fields, 'subject') ?? '');
  const line = text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').toWellFormed();
  return cutText(line, MAX_READ_SUBJECT_CHARS);
}

function allParts(root: ReceivedPart): readonly ReceivedPart[] {
  return [root, ...root.children.flatMap(allParts)];
}

/** Seen in practice: the same calendar as an alternative and as a file. */
function firstInvitation(parts: readonly ReceivedPart[]): Invitation | null {
  const found = parts.filter(({ keep }) => keep === 'calendar').flatMap(toInvitation);
  const [first] = found;
  if (first === undefined) return null;
  const others = new Set(found.map(({ uid }) => uid)).size - 1;
  return { ...first, moreEvents: first.moreEvents + others };
}

function toInvitation(part: ReceivedPart): readonly Invitation[] {
  const method = part.parameters.get('method') ?? null;
  const { invitation, isDamaged } = readInvitation(decodeTextPart(part), method);
  if (isDamaged || part.isCut) part.defects.add('damaged_calendar');
  return invitation === null ? [] : [invitation];
}

function toReport(part: ReceivedPart): readonly ReportPart[] {
  if (part.keep !== 'report' && part.keep !== 'contained') return [];
  return [{ partPath: part.path, contentType: part.mediaType, bytes: Buffer.from(decodedBytes(part)) }];
}
