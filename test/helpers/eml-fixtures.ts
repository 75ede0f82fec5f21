/** Messages of test/fixtures/eml and their expected readings, in `name.json` beside `name.eml`. */
import { readdirSync, readFileSync } from 'node:fs';
import { formatAddress } from '../../src/core/address/address.ts';
import { classifyAutomatic } from '../../src/core/delivery/automatic.ts';
import { readBounce } from '../../src/core/delivery/bounce.ts';
import { MessageLimitError } from '../../src/core/mime/parse/message-limit-error.ts';
import { parseMessage } from '../../src/core/mime/parse/parse.ts';
import type { ParsedMessage } from '../../src/core/mime/parse/parsed-message.ts';
import { decodeTransfer } from '../../src/core/mime/parse/transfer-decoding.ts';

export interface EmlFixture {
  /** Such as `rfc/plain`. */
  readonly name: string;
  readonly raw: Buffer;
}

export const EML_FOLDER = new URL('../fixtures/eml/', import.meta.url);

export const EML_FIXTURES: readonly EmlFixture[] = ['rfc', 'real', 'malformed', 'attack'].flatMap((folder) =>
  readdirSync(new URL(`${folder}/`, EML_FOLDER))
    .filter((name) => name.endsWith('.eml'))
    .map((name) => ({
      name: `${folder}/${name.slice(0, -'.eml'.length)}`,
      raw: readFileSync(new URL(`${folder}/${name}`, EML_FOLDER)),
    })),
);

/** In the form of its `.json`: values without information are left out. */
export function describeMessage(raw: Buffer): unknown {
  const { message, limit } = readMessage(raw);
  const described = {
    limit,
    messageId: message.messageId,
    inReplyTo: message.inReplyTo,
    references: message.references,
    from: message.from.map(formatAddress),
    sender: message.sender === null ? null : formatAddress(message.sender),
    replyTo: message.replyTo.map(formatAddress),
    to: message.to.map(formatAddress),
    cc: message.cc.map(formatAddress),
    bcc: message.bcc.map(formatAddress),
    subject: message.subject,
    date: message.date?.toISOString() ?? null,
    text: message.text.length > 2000 ? `${message.text.length} characters` : message.text,
    html: message.html,
    attachments: message.attachments.slice(0, 20).map(({ content, ...attachment }) => ({
      ...attachment,
      content:
        content.kind === 'bytes'
          ? content.bytes.toString('latin1')
          : decodeTransfer(raw.subarray(content.start, content.end), content.encoding).toString('latin1'),
    })),
    invitation: message.invitation,
    reports: message.reports.map(({ partPath, contentType }) => `${partPath} ${contentType}`),
    contentType: message.contentType,
    reportType: message.reportType,
    protection: message.protection,
    defects: message.defects,
    automatic: classifyAutomatic(message),
    bounce: readBounce(message),
  };
  const filled = Object.entries(described).filter(
    ([, value]) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0),
  );
  return JSON.parse(JSON.stringify(Object.fromEntries(filled)));
}

/** The message as read, and the limit that was exceeded. */
export function readMessage(raw: Buffer): {
  readonly message: ParsedMessage;
  readonly limit: string | null;
} {
  try {
    return { message: parseMessage(raw), limit: null };
  } catch (error) {
    if (error instanceof MessageLimitError) return { message: error.partial, limit: error.limit };
    throw error;
  }
}
