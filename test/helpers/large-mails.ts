/** Mails near the reading limits: each could keep another part of the service busy for long. */
import { mail } from './inbound-mail.ts';
import { POISON_MAILS, type PoisonMail } from './poison-mails.ts';

/** Size of a text as it is sent: nearly MAX_TEXT_BYTES. */
const TEXT_BYTES = 9_500_000;
/** Size of an attachment, encoded. */
const FILE_BYTES = 40_000_000;

const LINE_OF_BASE64 = 78;

function large(name: string, headers: readonly string[], makeBody: () => string): PoisonMail {
  return { name, make: (messageId) => mail({ messageId, subject: name, headers, body: makeBody() }) };
}

const text = (name: string, unit: string, headers: readonly string[] = []) =>
  large(name, headers, () => unit.repeat(TEXT_BYTES / Buffer.byteLength(unit)));

/** @param bytes 57 of them, repeated again and again */
const encoded = (name: string, bytes: Buffer, charset: string) =>
  large(name, [`Content-Type: text/plain; charset=${charset}`, 'Content-Transfer-Encoding: base64'], () =>
    `${bytes.toString('base64')}\r\n`.repeat(TEXT_BYTES / LINE_OF_BASE64),
  );

const MULTIPART = ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'];

export const LARGE_MAILS: readonly PoisonMail[] = [
  ...POISON_MAILS.filter(({ name }) => /boundaries|empty lines|semicolons/.test(name)),
  text('plain text', 'Lorem ipsum dolor sit amet, consectetur adipiscing.\r\n'),
  text('control characters', '\u0001'),
  text('letters of several bytes', 'Grüße €漢\r\n', ['Content-Type: text/plain; charset=utf-8']),
  text('HTML', '<p>Hallo "x"</p>\r\n', ['Content-Type: text/html']),
  encoded('a byte that is three in UTF-8', Buffer.alloc(57, 0x80), 'windows-1252'),
  encoded('damaged UTF-8', Buffer.from(`${'\xc3\xa4a\xff'.repeat(14)}b`, 'latin1'), 'utf-8'),
  encoded('NULs', Buffer.from(`${'a\0'.repeat(28)}b`), 'utf-8'),
  large(
    'addresses',
    [`Cc: ${Array.from({ length: 30_000 }, (_, at) => `a${at} <a${at}@x.test>`).join(',\r\n ')}`],
    () => 'x',
  ),
  large('parts', MULTIPART, () =>
    '--b\r\nContent-Disposition: attachment; filename=a\r\n\r\nx\r\n'.repeat(999),
  ),
  large('an attachment', MULTIPART, () =>
    [
      '--b\r\nContent-Disposition: attachment; filename=a\r\nContent-Transfer-Encoding: base64\r\n\r\n',
      `${'A'.repeat(LINE_OF_BASE64 - 2)}\r\n`.repeat(FILE_BYTES / LINE_OF_BASE64),
      '--b--',
    ].join(''),
  ),
];
