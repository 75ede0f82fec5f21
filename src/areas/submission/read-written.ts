/** Reads a submitted message: what is sent of it, and what is recorded. */
import { addrSpec, dedupeAddresses, sameMailbox, type Address } from '../../core/address/address.ts';
import { parseAddressList } from '../../core/address/address-list.ts';
import type { AutoSubmitted } from '../../core/delivery/loop-guard.ts';
import { ServiceError } from '../../core/errors.ts';
import { readCustomHeaders, type CustomHeaders } from '../../core/message/custom-headers.ts';
import { MAX_CUSTOM_HEADERS } from '../../core/message/limits.ts';
import { createMessageId, formatMessageId } from '../../core/message/message-id.ts';
import { readThreadIndex } from '../../core/message/thread-index.ts';
import { formatDate } from '../../core/mime/compose/header.ts';
import { fieldValue } from '../../core/mime/parse/header-fields.ts';
import type { ParsedMessage, ParseDefect } from '../../core/mime/parse/parsed-message.ts';
import { refuse } from '../../core/submission/refusal.ts';
import {
  formatWrittenHeader,
  hasWholeHeader,
  readWrittenHeader,
  type WrittenHeader,
} from '../../core/submission/written-header.ts';
import { MAX_HEADER_BYTES } from '../../core/mime/limits.ts';
import type { Clock, IdSource } from '../../platform/base/basics.ts';
import { readContent, type ContentPorts } from '../../platform/files/content.ts';
import type { Content, SpoolFolder } from '../../platform/files/file-ports.ts';
import type { WrittenSend } from '../send/prepare-written.ts';

/** Bytes of the unguessable part of a Message-ID that the service adds. */
const MESSAGE_ID_RANDOM_BYTES = 16;

interface WritePorts extends ContentPorts {
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Throws RefusedSubmission. */
export async function readHeader(
  ports: ContentPorts,
  raw: Content,
  isUtf8Allowed: boolean,
): Promise<WrittenHeader> {
  let beginning: Buffer = Buffer.alloc(0);
  for await (const chunk of readContent(ports, raw)) {
    beginning = Buffer.concat([beginning, chunk]).subarray(0, MAX_HEADER_BYTES);
    if (beginning.length === MAX_HEADER_BYTES || hasWholeHeader(beginning)) break;
  }
  return readWrittenHeader(beginning, isUtf8Allowed);
}

/** The value of the field of that name (lower-case), unfolded; null: there is none. */
function valueOf({ fields }: WrittenHeader, name: string): string | null {
  const field = fields.find((one) => one.name === name);
  return field === undefined ? null : unfold(field.text);
}

const unfold = (text: string): string =>
  Buffer.from(text.slice(text.indexOf(':') + 1).replaceAll('\r\n', ''), 'latin1')
    .toString('utf8')
    .trim();

/** The address in From, and that in Sender if there is one. Throws RefusedSubmission. */
export function readSenders(header: WrittenHeader): {
  readonly from: Address;
  readonly sender: Address | null;
} {
  const sender = valueOf(header, 'sender');
  return {
    from: readOne('From', valueOf(header, 'from') ?? ''),
    sender: sender === null ? null : readOne('Sender', sender),
  };
}

/** Of lists and groups: programs differ in what they show of `a: b@c;` and `, b@c`. */
const SEPARATORS = /[,;:]/;
/** The text outside of quoted strings and comments (RFC 5322 §3.2.2, §3.2.4); in time that grows with its length. */
function outsideQuotes(text: string): string {
  let outside = '';
  let isQuoted = false;
  let comments = 0;
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index] ?? '';
    const isInside = isQuoted || comments > 0;
    if (isInside && char === '\\') index += 1;
    else if (comments === 0 && char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && char === '(') comments += 1;
    else if (comments > 0 && char === ')') comments -= 1;
    else if (!isInside) outside += char;
  }
  return outside;
}

function readOne(field: 'From' | 'Sender', text: string): Address {
  let addresses: readonly Address[];
  try {
    addresses = parseAddressList(text, field);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw refuse(550, '5.1.7', error.englishText);
  }
  const [address, ...others] = addresses;
  if (address === undefined || others.length > 0 || SEPARATORS.test(outsideQuotes(text)))
    throw refuse(550, '5.1.7', `${field} has to have one address`);
  return address;
}

export interface OwnMessage {
  readonly raw: Content;
  /** The sender wrote its Message-ID. */
  readonly isIdentified: boolean;
}

/**
 * The message as it is handed over: without the fields that are left out, and with Message-ID and Date (RFC 6409 §8.2, §8.3). Bytes that need
 * no change stay where they are.
 */
export async function toOwnMessage(
  ports: WritePorts,
  raw: Content,
  header: WrittenHeader,
  from: Address,
  folder: SpoolFolder,
): Promise<OwnMessage> {
  const now = ports.clock();
  const isIdentified = valueOf(header, 'message-id') !== null;
  const added: string[] = [];
  if (!isIdentified) {
    const messageId = createMessageId(ports.ids.randomBytes(MESSAGE_ID_RANDOM_BYTES), now, from.domain);
    added.push(`Message-ID: ${formatMessageId(messageId)}`);
  }
  if (valueOf(header, 'date') === null) added.push(`Date: ${formatDate(now)}`);
  if (!header.isChanged && added.length === 0) return { raw, isIdentified };
  const own = formatWrittenHeader(header, added);
  if (raw.kind === 'bytes') {
    const bytes = Buffer.concat([own, raw.bytes.subarray(header.sizeBytes)]);
    return { raw: { kind: 'bytes', bytes }, isIdentified };
  }
  return {
    raw: await folder.write(withHeader(own, readContent(ports, raw), header.sizeBytes)),
    isIdentified,
  };
}

async function* withHeader(
  own: Buffer,
  message: AsyncIterable<Buffer>,
  skippedBytes: number,
): AsyncGenerator<Buffer> {
  yield own;
  let left = skippedBytes;
  for await (const chunk of message) {
    if (chunk.length > left) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

/** Defects with which a message is not what its sender means, or can't be recorded as it is sent. Others reach the recipients as they are. */
const REFUSED: Partial<Readonly<Record<ParseDefect, string>>> = {
  missing_from: 'From can not be read',
  missing_message_id: 'the Message-ID can not be read',
  invalid_message_id: 'the Message-ID can not be read, or names no email',
  missing_date: 'the Date can not be read',
  invalid_date: 'the Date can not be read',
  invalid_address: 'an address in the header can not be read',
  duplicate_field: 'a header field occurs twice',
  malformed_header: 'the header has lines that are no header fields',
  header_without_end: 'the message has no empty line behind its header',
  limit_passed: 'the message has too many parts, or too long texts',
  not_parsed: 'the message can not be read',
};

interface Envelope {
  readonly recipients: readonly Address[];
  readonly from: Address;
}

type ReadParts = Omit<WrittenSend, 'accountId' | 'raw' | 'attachments' | 'authorKeyId' | 'recipients'>;

/** What is recorded of the message. Throws RefusedSubmission. */
export function toWritten(
  message: ParsedMessage,
  header: WrittenHeader,
  { recipients, from }: Envelope,
): ReadParts {
  for (const defect of message.defects) {
    const reason = REFUSED[defect];
    if (reason !== undefined) throw refuse(550, '5.6.0', reason);
  }
  const { messageId, date, to, cc } = message;
  const [readFrom, ...others] = message.from;
  // If two readers found different senders, a key could send in another name.
  const isSame = readFrom !== undefined && others.length === 0 && sameMailbox(readFrom, from);
  if (!isSame || messageId === null || date === null) throw refuse(550, '5.6.0', 'the header is ambiguous');
  const named = new Set([...to, ...cc].map((address) => addrSpec(address).toLowerCase()));
  const bcc = dedupeAddresses(recipients).filter((address) => !named.has(addrSpec(address).toLowerCase()));
  return {
    people: { to, cc, bcc },
    from: readFrom,
    replyTo: message.replyTo,
    messageId,
    date: new Date(Math.floor(date.getTime() / 1000) * 1000),
    inReplyTo: message.inReplyTo,
    references: message.references,
    threadIndex: readThreadIndex(fieldValue(message.fields, 'thread-index')),
    subject: message.subject,
    textBody: message.text,
    htmlBody: message.html,
    autoSubmitted: readAutoSubmitted(fieldValue(message.fields, 'auto-submitted')),
    headers: toCustomHeaders(header),
  };
}

/** RFC 3834 §5: every value but `no` says that no person wrote it; parameters follow the first word. */
function readAutoSubmitted(value: string | null): AutoSubmitted | null {
  const word = /^[a-z-]*/.exec(value?.trim().toLowerCase() ?? '')?.[0] ?? '';
  if (word === '' || word === 'no') return null;
  return word === 'auto-replied' ? 'auto-replied' : 'auto-generated';
}

/** Those fields that a send may add, by the rules for them; the message has all. */
function toCustomHeaders({ fields }: WrittenHeader): CustomHeaders {
  let kept: CustomHeaders = {};
  for (const { text } of fields) {
    if (Object.keys(kept).length === MAX_CUSTOM_HEADERS) break;
    const more = { ...kept, [text.slice(0, text.indexOf(':'))]: unfold(text) };
    let isAllowed = true;
    readCustomHeaders(more, () => {
      isAllowed = false;
    });
    if (isAllowed) kept = more;
  }
  return kept;
}
