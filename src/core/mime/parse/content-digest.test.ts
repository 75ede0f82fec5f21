import { describe, expect, it } from 'vitest';
import { parseMessage } from './parse.ts';

const HEAD = 'Message-ID: <a@example.com>\nFrom: a@example.com\nSubject: x\n';
const digest = (text: string | Buffer): string =>
  parseMessage(typeof text === 'string' ? Buffer.from(text) : text).contentDigest;

const TEXT = `${HEAD}Content-Type: text/plain; charset=utf-8\n\nGrüße aus Köln\nzwei\n`;

const mixed = (parts: readonly string[], boundary = 'b', head = HEAD): string =>
  `${head}MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=${boundary}\n\npreamble\n` +
  `${parts.map((part) => `--${boundary}\n${part}\n`).join('')}--${boundary}--\n`;
const PLAIN = 'Content-Type: text/plain\n\nhello';
const HTML = 'Content-Type: text/html\n\n<p>hello</p>';
const PDF =
  'Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\nAAECAwQFBgcICQ==';
const CSV = 'Content-Type: text/csv; name=a.csv\nContent-Disposition: attachment\n\na;b\nc;ä';
const forwarded = (text: string, encoding = '8bit') =>
  `Content-Type: message/rfc822\n\n${HEAD}Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: ${encoding}\n\n${text}\n`;
const WHOLE = mixed([PLAIN, HTML, PDF, CSV]);

describe('the digest of the content is the same', () => {
  it.each([
    ['with CRLF', TEXT, TEXT.replaceAll('\n', '\r\n')],
    ['with other header fields', TEXT, `Received: from a\nDKIM-Signature: v=1\nX-Spam-Flag: NO\n${TEXT}`],
    [
      'in quoted-printable',
      TEXT,
      TEXT.replace(
        '\n\nGrüße aus Köln',
        '\nContent-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=\n=C3=9Fe aus K=C3=B6ln',
      ),
    ],
    [
      'in base64',
      TEXT,
      `${HEAD}Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${Buffer.from('Grüße aus Köln\r\nzwei\r\n').toString('base64')}\n`,
    ],
    ['in another charset', TEXT, Buffer.from(TEXT.replace('utf-8', 'iso-8859-1'), 'latin1')],
    ['with white space at line ends', TEXT, TEXT.replace('Köln', 'Köln \t')],
    ['with empty lines at the end', TEXT, `${TEXT}\n\n\n`],
    ['without the line end at the end', TEXT, TEXT.trimEnd()],
    ['with From quoted by an mbox file', `${HEAD}\nFrom here\n> From\n`, `${HEAD}\n>From here\n> From\n`],
    ['with another boundary', WHOLE, mixed([PLAIN, HTML, PDF, CSV], 'other')],
    ['with another preamble', WHOLE, WHOLE.replace('preamble', 'This is a MIME message')],
    ['with parts in CRLF', WHOLE, WHOLE.replaceAll('\n', '\r\n')],
    ['with base64 in other lines', WHOLE, WHOLE.replace('AAECAwQF', 'AAEC\nAwQF')],
    [
      'with an attached text encoded anew',
      WHOLE,
      WHOLE.replace('\n\na;b\nc;ä', '\nContent-Transfer-Encoding: quoted-printable\n\na;b\nc;=C3=A4'),
    ],
    ['with an empty text part more', WHOLE, mixed([PLAIN, HTML, PDF, CSV, 'Content-Type: text/plain\n\n\n'])],
    [
      'with an attached message encoded anew',
      mixed([forwarded('Köln')]),
      mixed([forwarded('K=C3=B6ln', 'quoted-printable')]),
    ],
  ] as [string, string, string | Buffer][])('%s', (_, one, other) => {
    expect(digest(other)).toBe(digest(one));
  });
});

describe('the digest of the content is another one', () => {
  it.each([
    ['for another text', TEXT, TEXT.replace('zwei', 'drei')],
    ['for a line more', TEXT, `${TEXT}\ndrei`],
    ['for other white space at the beginning of a line', TEXT, TEXT.replace('zwei', '  zwei')],
    ['for another HTML', WHOLE, WHOLE.replace('<p>hello', '<p>hallo')],
    [
      'for another target of a link',
      mixed(['Content-Type: text/html\n\n<a href="https://a.test">x</a>']),
      mixed(['Content-Type: text/html\n\n<a href="https://b.test">x</a>']),
    ],
    ['for another attachment', WHOLE, WHOLE.replace('AAECAwQF', 'AAECAwQE')],
    ['for another name of an attachment', WHOLE, WHOLE.replace('a.pdf', 'a.exe')],
    ['for an attachment more', WHOLE, mixed([PLAIN, HTML, PDF, PDF, CSV])],
    ['without the HTML', WHOLE, mixed([PLAIN, PDF, CSV])],
    ['for HTML that is text', `${HEAD}\n<p>`, `${HEAD}Content-Type: text/html\n\n<p>`],
    ["for a list's footer", TEXT, `${TEXT}-- \nto unsubscribe\n`],
    ["for a list's footer in a part", mixed([PLAIN]), mixed([PLAIN, 'Content-Type: text/plain\n\nfooter'])],
    ['for another attached message', mixed([forwarded('Köln')]), mixed([forwarded('Bonn')])],
    [
      'for an alternative that is not shown',
      mixed([PLAIN, 'Content-Type: text/x-amp-html\n\na']),
      mixed([PLAIN, 'Content-Type: text/x-amp-html\n\nb']),
    ],
    [
      'for the same bytes in another charset',
      `${HEAD}Content-Type: text/plain; charset=koi8-r\n\n\u00e9\n`,
      `${HEAD}Content-Type: text/plain; charset=utf-8\n\n\u00e9\n`,
    ],
  ] as [string, string, string | Buffer][])('%s', (_, one, other) => {
    expect(digest(other)).not.toBe(digest(one));
  });

  it('beyond every limit of reading', () => {
    const limits = { textBytes: 10, reportBytes: 10, tnefBytes: 10, parts: 2, partDepth: 1 };
    const read = (text: string) => {
      try {
        return parseMessage(Buffer.from(text), limits).contentDigest;
      } catch (error) {
        return (error as { partial: { contentDigest: string } }).partial.contentDigest;
      }
    };
    for (const [one, other] of [
      [`${HEAD}\n${'x'.repeat(100)}\na`, `${HEAD}\n${'x'.repeat(100)}\nb`],
      [WHOLE, WHOLE.replace('c;ä', 'c;b')],
      [
        mixed([`Content-Type: multipart/mixed; boundary=c\n\n--c\n${PLAIN}\n--c--`]),
        mixed([`Content-Type: multipart/mixed; boundary=c\n\n--c\n${PLAIN}!\n--c--`]),
      ],
    ] as const) {
      expect(read(one)).not.toBe(read(other));
      expect(read(one)).toBe(read(one.replaceAll('\n', '\r\n')));
    }
  });
});

it('reads many empty lines, and a line of blanks, in a short time', () => {
  const began = process.cpuUsage();
  digest(`${HEAD}\n${'\n'.repeat(2_000_000)}x${' '.repeat(2_000_000)}y`);
  digest(mixed([`Content-Type: text/csv\nContent-Disposition: attachment\n\n${'\n'.repeat(2_000_000)}x`]));
  const { user, system } = process.cpuUsage(began);
  expect(user + system).toBeLessThan(20_000_000);
});
