/** Mails that take a reader very long, or once did: a stranger may send one at any time. */
import { mail } from './inbound-mail.ts';

export interface PoisonMail {
  readonly name: string;
  /** @param messageId with angle brackets */
  make(messageId: string): string;
}

/** Length of one line; the longest that most mail servers let through is of this order. */
const LINE = 100_000;

const inHeader = (name: string, line: string): PoisonMail => ({
  name,
  make: (messageId) => mail({ messageId, subject: name, headers: [line] }),
});
const MULTIPART = ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=limit'];

export const POISON_MAILS: readonly PoisonMail[] = [
  inHeader('quotes in a charset', `Content-Type: text/plain; charset="x${"'".repeat(LINE)}x"`),
  inHeader('quotes in a file name', `Content-Disposition: attachment; filename*=x${'"'.repeat(LINE)}x''y`),
  inHeader('quotes in an encoding', `Content-Transfer-Encoding: x${"'".repeat(LINE)}x`),
  {
    name: 'words and colons in To',
    make: (messageId) =>
      mail({
        messageId,
        subject: 'words and colons in To',
        to: `${'x '.repeat(LINE / 4)}y@z.example${':'.repeat(LINE / 2)}`,
      }),
  },
  {
    name: 'words and colons in From',
    make: (messageId) =>
      mail({
        messageId,
        subject: 'words and colons in From',
        from: `${'x '.repeat(LINE / 4)}y@z.example${':'.repeat(LINE / 2)}`,
      }),
  },
  {
    name: 'Base64 with a sign of its end everywhere',
    make: (messageId) =>
      mail({
        messageId,
        subject: 'Base64',
        headers: ['Content-Transfer-Encoding: base64'],
        body: `${'A=A='.repeat(19)}\r\n`.repeat(8_000_000 / 78),
      }),
  },
  {
    name: 'semicolons in To',
    make: (messageId) =>
      mail({ messageId, subject: 'semicolons', to: `${';'.repeat(900)}\r\n `.repeat(1000) }),
  },
  {
    name: 'lines that are nearly boundaries',
    make: (messageId) =>
      mail({
        messageId,
        subject: 'boundaries',
        headers: MULTIPART,
        body: '--limi\r\n'.repeat(36_000_000 / 8),
      }),
  },
  {
    name: 'empty lines',
    make: (messageId) => mail({ messageId, subject: 'lines', body: '\r\n'.repeat(4_500_000) }),
  },
  {
    name: 'HTML that grows when it is rendered',
    make: (messageId) =>
      mail({
        messageId,
        subject: 'HTML',
        headers: ['Content-Type: text/html'],
        body: `${'<ol start=999999999999999><li>'.repeat(48)}<pre>${'x\r\n'.repeat(200_000)}`,
      }),
  },
  {
    name: 'quotes in quotes that grow when they are rendered',
    make: (messageId) =>
      mail({
        messageId,
        subject: 'HTML quotes',
        headers: ['Content-Type: text/html'],
        body: `${'<blockquote>'.repeat(98)}<pre>${'x\r\n'.repeat(200_000)}`,
      }),
  },
  {
    name: 'encoded words of as many unknown charsets',
    make: (messageId) =>
      mail({
        messageId,
        subject: Array.from({ length: 40_000 }, (_, at) => `=?x-${at}?q?a?=`).join('\r\n '),
      }),
  },
  {
    name: 'text of many bytes for each character',
    make: (messageId) =>
      mail({
        messageId,
        subject: 'text',
        headers: ['Content-Type: text/plain; charset=windows-1252', 'Content-Transfer-Encoding: base64'],
        body: `${Buffer.alloc(57, 0x80).toString('base64')}\r\n`.repeat(100_000),
      }),
  },
];
