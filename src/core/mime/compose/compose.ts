/**
 * Composes the message of a Draft: RFC 5322, and MIME by RFC 2045 to 2049. Output is 7-bit, except for local parts that
 * are not ASCII (RFC 6532); lines end in CRLF and have at most 998 octets, nearly always 78. Bcc is not part of a
 * Draft, so it can't be written.
 *
 * Written by hand because of its speed; bench/compose.mjs compares it with nodemailer's MailComposer.
 */
import type { Address } from '../../address/address.ts';
import type { AutoSubmitted } from '../../delivery/loop-guard.ts';
import { ServiceError } from '../../errors.ts';
import { withoutAnyPrefix } from '../../message/base-subject.ts';
import type { CustomHeader } from '../../message/custom-headers.ts';
import type { MessageId } from '../../message/message-id.ts';
import { encodeBase64Lines, streamBase64Lines } from './base64.ts';
import {
  addressTokens,
  customTokens,
  foldHeader,
  formatDate,
  messageIdTokens,
  textTokens,
} from './header.ts';
import {
  attachmentPart,
  calendarPart,
  multipart,
  textPart,
  type FilePart,
  type Part,
  type PartContent,
} from './part.ts';

/** A message before composing. */
export interface Draft {
  readonly messageId: MessageId;
  /** Written without its milliseconds. */
  readonly date: Date;
  readonly from: Address;
  /** When `cc` is empty too, the header says `undisclosed-recipients:;`. */
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  /** Addresses for answers; none: answers go to From. */
  readonly replyTo?: readonly Address[];
  /** Transmitted exactly. */
  readonly subject: string;
  /** Any line ends; CRLF is sent. null when there is none; with both null an empty text is sent. */
  readonly textBody: string | null;
  readonly htmlBody: string | null;
  /** Ids that are not ASCII are left out of the headers. */
  readonly inReplyTo: readonly MessageId[];
  /** Oldest first; bounded by buildReferences. */
  readonly references: readonly MessageId[];
  /** See nextThreadIndex; null for none, and no Thread-Topic either. */
  readonly threadIndex?: string | null;
  /** Names go through displayFilename; content types are as given, such as `text/csv; charset=utf-8`. */
  readonly attachments: readonly FilePart[];
  /** The answer to an invitation: a calendar with its method, such as `REPLY`; null for none. */
  readonly calendar?: { readonly method: string; readonly text: string } | null;
  /** For an email that no person wrote; null for any other. */
  readonly autoSubmitted?: AutoSubmitted | null;
  /** Further fields; see readCustomHeaders. */
  readonly headers?: readonly CustomHeader[];
  /** An https address that unsubscribes the recipient with one POST; null for none. */
  readonly unsubscribeUrl?: string | null;
  /** Only beside `unsubscribeUrl`: a `mailto:` address that unsubscribes by mail; null for none. See core/unsubscribe/mailto.ts. */
  readonly unsubscribeMailto?: string | null;
  /** 16 to 64 unguessable letters and digits: boundaries are made of them. */
  readonly boundarySeed: string;
}

type FileContent = Extract<PartContent, { kind: 'file' }>;

const SEED = /^[A-Za-z0-9]{16,64}$/;

/**
 * Composes a message whose attachments are all in memory; throws TypeError for a file.
 * Throws ServiceError: `header_injection`, `invalid_text`, `invalid_address`, `invalid_content_type`.
 */
export function composeMessage(draft: Draft): Buffer {
  return Buffer.concat(
    planMessage(draft).map((piece) => {
      if (typeof piece === 'string') return Buffer.from(piece, 'utf8');
      if (Buffer.isBuffer(piece)) return piece;
      if (piece.kind === 'bytes') return encodeBase64Lines(piece.bytes);
      throw new TypeError('an attachment in a file has to be streamed');
    }),
  );
}

/**
 * Composes the same bytes in chunks, with bounded memory. Errors of the draft are thrown at once, as by composeMessage.
 * The stream throws the errors of `open`, and `content_missing` when the size of a file differs from the draft's.
 */
export function composeMessageStream(
  draft: Draft,
  open: (content: FileContent) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  return streamPieces(planMessage(draft), open);
}

async function* streamPieces(
  pieces: Part['body'],
  open: (content: FileContent) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (typeof piece === 'string') yield Buffer.from(piece, 'utf8');
    else if (Buffer.isBuffer(piece)) yield piece;
    else yield* streamBase64Lines(readChecked(piece, open));
  }
}

/** Checks the size: a truncated file would go out as if it were whole. */
async function* readChecked(
  content: PartContent,
  open: (content: FileContent) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  if (content.kind === 'bytes') {
    yield content.bytes;
    return;
  }
  let readBytes = 0;
  for await (const chunk of open(content)) {
    readBytes += chunk.length;
    yield chunk;
  }
  if (readBytes !== content.sizeBytes) {
    throw new ServiceError('content_missing', {
      cause: new Error(`an attachment's file has ${readBytes} instead of ${content.sizeBytes} bytes`),
    });
  }
}

/** The whole message except the base64 of attachments. */
function planMessage(draft: Draft): Part['body'] {
  if (!SEED.test(draft.boundarySeed))
    throw new RangeError('boundarySeed must be 16 to 64 letters and digits');
  const { header, body } = planBody(draft);
  const last = body.at(-1);
  const endsInLine = Buffer.isBuffer(last) && last.at(-1) === 0x0a;
  return [`${formatHead(draft)}${header}\r\n`, ...body, ...(endsInLine ? [] : ['\r\n'])];
}

function planBody(draft: Draft): Part {
  const seed = draft.boundarySeed;
  const texts: Part[] = [];
  if (draft.textBody !== null || draft.htmlBody === null) {
    texts.push(textPart('plain', draft.textBody ?? '', 'text_body', seed));
  }
  const files = draft.attachments.map((file, index) => ({
    part: attachmentPart(file, `attachments[${index}].content_type`),
    isShown: file.inline === true && draft.htmlBody !== null,
  }));
  const shown = files.filter(({ isShown }) => isShown).map(({ part }) => part);
  const others = files.filter(({ isShown }) => !isShown).map(({ part }) => part);
  if (draft.htmlBody !== null) {
    const html = textPart('html', draft.htmlBody, 'html_body', seed);
    // RFC 2046 §5.1.4: the richest alternative comes last.
    texts.push(shown.length === 0 ? html : multipart('related', seed, [html, ...shown]));
  }
  if (draft.calendar) texts.push(calendarPart(draft.calendar.method, draft.calendar.text, seed));
  const [only, ...more] = texts;
  const text = only !== undefined && more.length === 0 ? only : multipart('alternative', seed, texts);
  return others.length === 0 ? text : multipart('mixed', seed, [text, ...others]);
}

function formatHead(draft: Draft): string {
  const messageId = messageIdTokens([draft.messageId]);
  if (messageId.length === 0) throw new RangeError('the Message-ID of a new message must be ASCII');
  const { to, cc, headers = [] } = draft;
  const toTokens =
    to.length === 0 && cc.length === 0 ? ['undisclosed-recipients:;'] : addressTokens(to, 'to');
  const subjectTokens = textTokens(draft.subject, 'subject');
  return (
    `Date: ${formatDate(draft.date)}\r\n` +
    foldHeader('From', addressTokens([draft.from], 'from')) +
    foldUnlessEmpty('To', toTokens) +
    foldUnlessEmpty('Cc', addressTokens(cc, 'cc')) +
    foldUnlessEmpty('Reply-To', addressTokens(draft.replyTo ?? [], 'reply_to')) +
    foldHeader('Subject', subjectTokens) +
    foldHeader('Message-ID', messageId) +
    foldUnlessEmpty('In-Reply-To', messageIdTokens(draft.inReplyTo)) +
    foldUnlessEmpty('References', messageIdTokens(draft.references)) +
    (draft.threadIndex ? threadFields(draft.subject, subjectTokens, draft.threadIndex) : '') +
    (draft.autoSubmitted ? automaticFields(draft.autoSubmitted, headers) : '') +
    headers.map(formatCustom).join('') +
    (draft.unsubscribeUrl ? unsubscribeFields(draft.unsubscribeUrl, draft.unsubscribeMailto ?? null) : '') +
    'MIME-Version: 1.0\r\n'
  );
}

/** Outlook groups by these fields. The index is one word, whatever its length: not all programs rejoin folded pieces. */
function threadFields(subject: string, subjectTokens: readonly string[], index: string): string {
  const topic = withoutAnyPrefix(subject);
  const tokens = topic === subject ? subjectTokens : textTokens(topic, 'subject');
  return `${foldUnlessEmpty('Thread-Topic', tokens)}Thread-Index: ${index}\r\n`;
}

/**
 * RFC 3834 §5. Seen in practice: Exchange answers such mail nevertheless, unless its own field forbids it; only answers
 * by programs are forbidden, not delivery reports. A caller may set that field differently.
 */
function automaticFields(autoSubmitted: AutoSubmitted, headers: readonly CustomHeader[]): string {
  const isGiven = headers.some(({ name }) => name.toLowerCase() === 'x-auto-response-suppress');
  return `Auto-Submitted: ${autoSubmitted}\r\n${isGiven ? '' : 'X-Auto-Response-Suppress: OOF, AutoReply\r\n'}`;
}

/** Seen in practice: programs treat the fold after a name as a space that belongs to the value. */
function formatCustom({ name, value, field, isStructured }: CustomHeader): string {
  const [first = '', ...others] = customTokens(value, field, !isStructured);
  return foldHeader(name, others, first);
}

/** RFC 2369 §3.2, RFC 8058 §3.1: the preferred way first. Each is on a line of its own, since both contain a token. */
function unsubscribeFields(url: string, mailto: string | null): string {
  const byMail = mailto === null ? '' : `,\r\n <${mailto}>`;
  return `List-Unsubscribe: <${url}>${byMail}\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n`;
}

function foldUnlessEmpty(name: string, tokens: readonly string[]): string {
  return tokens.length === 0 ? '' : foldHeader(name, tokens);
}
