/** The readings themselves. They run apart from everything else; see reading-ports.ts. */
import { invitationText } from '../../core/calendar/invitation-text.ts';
import { readAggregateReport } from '../../core/delivery/aggregate-report.ts';
import { addrSpec, type Address } from '../../core/address/address.ts';
import { classifyAutomatic, withReport, type AutomaticContext } from '../../core/delivery/automatic.ts';
import { readBounce } from '../../core/delivery/bounce.ts';
import type { CaptureFacts } from '../../core/mailbox/capture.ts';
import { identityOf } from '../../core/message/identity.ts';
import { readReceivedDate } from '../../core/message/received-date.ts';
import { forwardedAuthors } from '../../core/message/forwarded-authors.ts';
import { isSameEmail } from '../../core/message/same-email.ts';
import { chooseSent, isRewrittenCopy } from '../../core/message/sent-copy.ts';
import { htmlToText } from '../../core/mime/text/html-to-text.ts';
import { MessageLimitError } from '../../core/mime/parse/message-limit-error.ts';
import { createMessageParser } from '../../core/mime/parse/parse.ts';
import type { ParsedMessage } from '../../core/mime/parse/parsed-message.ts';
import { readBaseSubject } from '../../core/message/base-subject.ts';
import { fieldValue, parseHeaderBlock } from '../../core/mime/parse/header-fields.ts';
import { decodeHeaderText } from '../../core/mime/text/header-text.ts';
import { newText, type ReplyContext } from '../../core/mime/text/reply-text.ts';
import { shortenHeader } from '../../core/mime/parse/shorten-header.ts';
import type { ReadHeader, ReadingKind, Readings, ReceivedMessage } from './reading-ports.ts';

/** Many times more than servers add on a long way. */
const MAX_HEADER_FIELDS = 1000;

type Reading<K extends ReadingKind> = (asked: Readings[K]['asked']) => Readings[K]['given'];
type LateKind = 'safeHtml' | 'forwardHtml' | 'templateCheck' | 'template';
type Read = { readonly [K in Exclude<ReadingKind, 'message' | LateKind>]: Reading<K> };
type ReadLate = { readonly [K in LateKind]: () => Promise<Reading<K>> };

/** All except whole messages, and the readings that are loaded on first use. */
export const READINGS: Read = {
  fields: ({ header }) => parse([shortenHeader(header)]),
  headerFields: ({ header }) =>
    parseHeaderBlock(header, MAX_HEADER_FIELDS).fields.map(({ name, value }) => ({
      name,
      value: decodeHeaderText(value),
    })),
  header: ({ header, isShortened }) => readHeader(isShortened ? shortenHeader(header) : header, isShortened),
  headers: ({ headers }) => headers.map((header) => readHeader(header)),
  html: ({ html }) => htmlToText(html),
  sameEmail: ([one, other]) => isSameEmail(one, other),
  isCopy: ({ copy, sent }) => isRewrittenCopy(copy, sent),
  choice: ({ copy, candidates }) => chooseSent(copy, candidates)?.id ?? null,
};

/** Their libraries take up to 0.2 s and 40 MB, which receiving mail does not need. */
export const LATE_READINGS: ReadLate = {
  safeHtml: async () => (await import('./read-safe-html.ts')).readSafeHtml,
  forwardHtml: async () => (await import('./read-safe-html.ts')).readForwardHtml,
  templateCheck: async () => (await import('../../core/templates/liquid.ts')).checkTemplate,
  async template() {
    const { fillTemplate } = await import('../../core/templates/liquid.ts');
    return ({ content, variables }) => fillTemplate(content, variables);
  },
};

/** Whatever the bytes are, the result can be recorded. Throws the errors of `chunks`. */
export function understand(chunks: Iterable<Buffer>, context: AutomaticContext): ReceivedMessage {
  const message = parse(chunks);
  const bounce = readBounce(message, context);
  // An invitation in words looks like the header block of a quote.
  const isWorded = message.invitation !== null && message.text === invitationText(message.invitation);
  const replyText = isWorded ? message.text : newText(message.text, message.html, replyContext(message));
  const automatic = withReport(classifyAutomatic(message, context), bounce !== null);
  return {
    message,
    // A long text is not copied twice.
    replyText: replyText === message.text ? null : replyText,
    automatic,
    bounce,
    aggregate: automatic?.kind === 'report' ? readAggregateReport(message) : null,
    forwardedFrom: forwardedAuthors(message, (head) => parse([head])),
  };
}

function replyContext({ subject, text, fields, from }: ParsedMessage): ReplyContext {
  const { isReply, isForward } = readBaseSubject(subject);
  const names = ['in-reply-to', 'references'];
  return {
    isReply: isReply || names.some((name) => (fieldValue(fields, name) ?? '').trim() !== ''),
    // `VS` marks a reply in Finnish, and a forward in Danish and Norwegian, whose word for From is `Fra`.
    isForward: isForward || (/^\s*vs\s?:/i.test(subject) && /^[ \t]{0,9}Fra\s?:/m.test(text)),
    sender: from.length === 0 ? null : from.map(namesOf).join(' '),
  };
}

/** Without the top-level domain, which many addresses share. */
const namesOf = ({ name, localPart, domain }: Address): string =>
  `${name} ${localPart} ${domain.split('.').slice(0, -1).join(' ')}`;

function readHeader(header: Buffer, isShortened = false): ReadHeader {
  const { message, isWhole } = parseSome([header]);
  return {
    identity: message.messageId === null || message.date === null ? null : identityOf(message),
    date: message.date ?? readReceivedDate(message.fields),
    facts: isWhole && !isShortened ? factsOf(message) : null,
  };
}

function factsOf(message: ParsedMessage): CaptureFacts {
  const addresses = (list: readonly Address[]) => list.map((address) => addrSpec(address).toLowerCase());
  return {
    messageId: message.messageId,
    from: addresses(message.from),
    recipients: addresses([...message.to, ...message.cc, ...message.bcc]),
    replyTo: addresses(message.replyTo),
    subject: message.subject,
    sensitivity: fieldValue(message.fields, 'sensitivity'),
    answers: [...new Set([...message.inReplyTo, ...message.references])],
    isReport:
      message.contentType === 'multipart/report' ||
      fieldValue(message.fields, 'return-path')?.trim() === '<>' ||
      message.from.some(({ localPart }) => localPart.toLowerCase() === 'mailer-daemon'),
  };
}

/** Stops at a limit that is exceeded, with the part up to there. */
const parse = (chunks: Iterable<Buffer>): ParsedMessage => parseSome(chunks).message;

function parseSome(chunks: Iterable<Buffer>): { readonly message: ParsedMessage; readonly isWhole: boolean } {
  const parser = createMessageParser();
  for (const chunk of chunks) parser.write(chunk);
  try {
    return { message: parser.end(), isWhole: true };
  } catch (error) {
    if (error instanceof MessageLimitError) return { message: error.partial, isWhole: false };
    throw error;
  }
}
