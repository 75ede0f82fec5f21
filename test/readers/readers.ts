/** Everything that reads strangers' input, each as one function of bytes. None of them may throw, whatever it gets. */
import { JsonStringReader } from '../../src/platform/http/body/json-string-reader.ts';
import { VanishedUids } from '../../src/connectors/imap/vanished-uids.ts';
import { decodeBase64 } from '../../src/platform/http/body/base64-decoder.ts';
import { parseAddressList } from '../../src/core/address/address-list.ts';
import { parseLenientAddressList } from '../../src/core/address/lenient-address-list.ts';
import { readInvitation } from '../../src/core/calendar/read-invitation.ts';
import { classifyAutomatic } from '../../src/core/delivery/automatic.ts';
import { readBounce } from '../../src/core/delivery/bounce.ts';
import { severityOf } from '../../src/core/delivery/failure-severity.ts';
import { cleanReplyText, parseRelayMessageId, parseReply } from '../../src/core/delivery/reply.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { summariseHeader } from '../../src/core/mailbox/header-summary.ts';
import { readStatus } from '../../src/core/mbox/read-status.ts';
import { createMboxSplitter } from '../../src/core/mbox/split-mbox.ts';
import { subjectKeyOf } from '../../src/core/message/base-subject.ts';
import { parseMessageDate } from '../../src/core/message/date.ts';
import { identityOf } from '../../src/core/message/identity.ts';
import { parseMessageId } from '../../src/core/message/message-id.ts';
import { parseMessageIdList } from '../../src/core/message/references.ts';
import { toSnippet } from '../../src/core/message/snippet.ts';
import { decodeCharset } from '../../src/core/mime/text/charset.ts';
import { parseContentType } from '../../src/core/mime/compose/content-type.ts';
import { asciiFilename, displayFilename, StorageNames } from '../../src/core/mime/text/filename.ts';
import { unflow } from '../../src/core/mime/text/flowed-text.ts';
import { textTokens } from '../../src/core/mime/compose/header.ts';
import { parseHeaderBlock } from '../../src/core/mime/parse/header-fields.ts';
import { decodeHeaderText } from '../../src/core/mime/text/header-text.ts';
import { htmlToText } from '../../src/core/mime/text/html-to-text.ts';
import { MAX_READ_SUBJECT_CHARS } from '../../src/core/mime/limits.ts';
import { MessageLimitError } from '../../src/core/mime/parse/message-limit-error.ts';
import { formatParameter } from '../../src/core/mime/compose/parameter.ts';
import { parseMessage } from '../../src/core/mime/parse/parse.ts';
import type { ParsedMessage } from '../../src/core/mime/parse/parsed-message.ts';
import { cutQuotedHtml } from '../../src/core/mime/text/quoted-html.ts';
import { readParameters } from '../../src/core/mime/parse/read-parameters.ts';
import { newText } from '../../src/core/mime/text/reply-text.ts';
import { encodeText } from '../../src/core/mime/compose/text-encoding.ts';
import { unpackRtf } from '../../src/core/mime/parse/compressed-rtf.ts';
import { readAggregateReport } from '../../src/core/delivery/aggregate-report.ts';
import { readRtf } from '../../src/core/mime/parse/rtf.ts';
import { unpackTnef } from '../../src/core/mime/parse/tnef.ts';
import { decodeTransfer } from '../../src/core/mime/parse/transfer-decoding.ts';
import { toSearchDocument } from '../../src/core/search/document.ts';
import { formatTsquery, parseSearchQuery } from '../../src/core/search/query.ts';

/** Swallows the errors that are meant for callers. */
export type Reader = (input: Buffer) => void;

const REPLY = { isReply: true, isForward: false, sender: null };

/** A whole message, as receiving one reads it. */
export function readMail(raw: Buffer): void {
  const message = parse(raw);
  newText(message.text, message.html, REPLY);
  const names = new StorageNames();
  for (const { filename } of message.attachments) names.add(filename);
  classifyAutomatic(message);
  readBounce(message);
  identityOf(message);
}

export const READERS = {
  mail: readMail,
  'header fields': (input) => void parseHeaderBlock(input),
  'header summary of a mailbox': (input) => void summariseHeader(input, input.length),
  parameters: ofText((text) => readParameters(text)),
  'content type': ofText((text) => forCaller(() => parseContentType(text, 'content_type'))),
  'strict addresses': ofText((text) => forCaller(() => parseAddressList(text, 'to'))),
  'lenient addresses': ofText((text) => parseLenientAddressList(text)),
  'encoded words': ofText(decodeHeaderText),
  'Message-ID': ofText(parseMessageId),
  'Message-IDs': ofText(parseMessageIdList),
  date: ofText(parseMessageDate),
  'base subject': ofText(subjectKeyOf),
  'charset without a label': (input) => void decodeCharset(input, null),
  'charset UTF-8': (input) => void decodeCharset(input, 'utf-8'),
  'charset UTF-7': (input) => void decodeCharset(input, 'utf-7'),
  'charset ISO-2022-JP': (input) => void decodeCharset(input, 'iso-2022-jp'),
  'charset label': ofText((text) => decodeCharset(Buffer.from('x'), text)),
  base64: (input) => void decodeTransfer(input, 'base64'),
  'quoted-printable': (input) => void decodeTransfer(input, 'quoted-printable'),
  'HTML to text': ofText(htmlToText),
  'quoted HTML': ofText((text) => cutQuotedHtml(text, null)),
  'reply text': ofText((text) => newText(text, null, REPLY)),
  'reply text with HTML': ofText((text) => newText('see below', text, REPLY)),
  'flowed text': ofText((text) => unflow(text, true)),
  calendar: ofText((text) => readInvitation(text, null)),
  TNEF: (input) => void unpackTnef(input),
  'aggregate report': (input) =>
    void readAggregateReport({ reports: [{ partPath: '1', contentType: 'text/xml', bytes: input }] }),
  'compressed RTF': (input) => void unpackRtf(input),
  RTF: (input) => void readRtf(input),
  mbox: readMbox,
  'mbox status': (input) => void readStatus(input),
  'search query': ofText((text) => {
    const query = parseSearchQuery(text);
    return query === null ? '' : formatTsquery(query);
  }),
  'search words': ofText((text) =>
    toSearchDocument({
      subject: text.slice(0, MAX_READ_SUBJECT_CHARS),
      from: [text],
      to: [text],
      files: [text],
      event: text,
      body: text,
    }),
  ),
  'SMTP reply': ofText((text) => {
    const reply = parseReply(text);
    return reply === null ? cleanReplyText(text) : parseRelayMessageId(reply, text);
  }),
  VANISHED: ofText((text) => {
    const vanished = new VanishedUids(() => undefined);
    vanished.collect();
    vanished.add({ attributes: [['EARLIER'], text] });
    vanished.add({ attributes: [text, null] });
    return vanished.take();
  }),
  'failure severity': ofText((text) => severityOf(null, cleanReplyText(text))),
  'file name': ofText((text) => [
    displayFilename(text),
    new StorageNames([text]).add(displayFilename(text)),
    asciiFilename(text),
  ]),
  snippet: ofText(toSnippet),
  'base64 of a caller': ofText(decodeBase64),
  'JSON string': (input) => forCaller(() => new JsonStringReader().push(input)),
  'text to send': ofText((text) => forCaller(() => encodeText(text, 'text_body', true))),
  'header to send': ofText((text) => forCaller(() => textTokens(text, 'subject'))),
  'parameter to send': ofText((text) => formatParameter('filename', displayFilename(text))),
} as const satisfies Readonly<Record<string, Reader>>;

export type ReaderName = keyof typeof READERS;

function parse(raw: Buffer): ParsedMessage {
  try {
    return parseMessage(raw);
  } catch (error) {
    if (error instanceof MessageLimitError) return error.partial;
    throw error;
  }
}

/** In chunks, as files are read. */
function readMbox(input: Buffer): void {
  const splitter = createMboxSplitter();
  for (let at = 0; at < input.length; at += 65_536) splitter.write(input.subarray(at, at + 65_536));
  splitter.end();
}

function ofText(read: (text: string) => unknown): Reader {
  return (input) => void read(input.toString('utf8'));
}

function forCaller(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
}
