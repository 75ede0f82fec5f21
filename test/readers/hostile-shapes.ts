/** Inputs that are far too expensive for a reader that looks at anything twice. */
import type { ReaderName } from './readers.ts';

export interface HostileShape {
  readonly reader: ReaderName;
  /** What the input contains, for the name of the test. */
  readonly name: string;
  /** About this many bytes. */
  readonly make: (bytes: number) => Buffer;
}

/** `unit` repeated, with text before and after it. */
function repeated(reader: ReaderName, unit: string, before = '', after = ''): HostileShape {
  const name = [before, unit, after].map((text) => show(text)).join(' … ');
  return {
    reader,
    name,
    make: (bytes) => {
      const count = Math.max(1, Math.floor(bytes / Buffer.byteLength(unit)));
      return Buffer.from(before + unit.repeat(count) + after);
    },
  };
}

/** Several units, each repeated over its share of the bytes. */
function parts(reader: ReaderName, name: string, make: (n: number) => string): HostileShape {
  return { reader, name, make: (bytes) => Buffer.from(make(bytes)) };
}

const show = (text: string): string =>
  text === '' ? '' : JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}~` : text);

const times = (unit: string, bytes: number): string =>
  unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(unit))));

const HTML = 'Content-Type: text/html\r\n\r\n';
const MULTIPART = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n';
const NESTED = Array.from(
  { length: 45 },
  (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}\r\n`,
).join('');

function dsn(recipients: (n: number) => string): (n: number) => string {
  return (n) =>
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\n' +
    `Content-Type: message/delivery-status\r\n\r\n${recipients(n)}\r\n--b--\r\n`;
}

function notice(text: (n: number) => string): (n: number) => string {
  return (n) => `From: mailer-daemon@x.example\r\nSubject: failure notice\r\n\r\n${text(n)}`;
}

/** A winmail.dat of attributes, each `[level, id, data]`. */
function tnef(attributes: readonly (readonly [number, number, Buffer])[]): Buffer {
  const pieces: Buffer[] = [Buffer.from([0x78, 0x9f, 0x3e, 0x22, 0, 0])];
  for (const [level, id, data] of attributes) {
    const head = Buffer.alloc(9);
    head.writeUInt8(level, 0);
    head.writeUInt32LE(id, 1);
    head.writeUInt32LE(data.length, 5);
    const sum = Buffer.alloc(2);
    sum.writeUInt16LE(data.reduce((total, byte) => (total + byte) & 0xffff, 0));
    pieces.push(head, data, sum);
  }
  return Buffer.concat(pieces);
}

const TNEF_FILE: readonly (readonly [number, number, Buffer])[] = [
  [2, 0x00069002, Buffer.alloc(14)],
  [2, 0x00018010, Buffer.from('a.txt\0')],
  [2, 0x0006800f, Buffer.from('x')],
];

export const HOSTILE_SHAPES: readonly HostileShape[] = [
  // Structured header fields
  repeated('mail', "'", 'Content-Type: text/plain; charset="x', 'x"\r\n\r\nx'),
  repeated('mail', '"', 'Content-Disposition: attachment; filename*=x', "x''y\r\n\r\nx"),
  repeated('mail', "'", 'Content-Transfer-Encoding: x', 'x\r\n\r\nx'),
  ...(['To', 'From'] as const).map((field) =>
    parts('mail', `${field} of words, an address and colons`, (n) => {
      return `${field}: ${times('x ', n / 2)}y@z.example${times(':', n / 2)}\r\n\r\nx`;
    }),
  ),
  repeated('parameters', "'", 'a; b*=x', "x''y"),
  repeated('parameters', ';'),
  repeated('parameters', ';a=b'),
  repeated('parameters', ';a*0*=b'),
  repeated('parameters', ';a*'),
  repeated('parameters', '"'),
  repeated('parameters', '\\"', 'a; b="'),
  repeated('parameters', '"\\', 'a; b='),
  repeated('parameters', '\\" ', 'a; b="'),
  repeated('parameters', '\\"\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t', 'a; b="'),
  repeated('parameters', ';"a'),
  repeated('parameters', '%2', "a; b*=utf-8''"),
  repeated('parameters', '=?a?q?', 'a; b="', '"'),
  repeated('parameters', '(', 'a/b '),
  repeated('parameters', ' ', 'a/b', 'x'),
  repeated('content type', ';a="b\\'),
  repeated('content type', '; '),
  repeated('charset label', "'", 'x', 'x'),
  repeated('charset label', ' ', 'x', 'x'),
  repeated('charset label', 'x'),
  // Encoded words
  repeated('encoded words', '=?utf-8?q?a?= '),
  repeated('encoded words', '=?x-none?q?a?= '),
  parts('encoded words', 'encoded words of as many charsets', (n) =>
    Array.from({ length: n / 18 }, (_, at) => `=?x-${at}?q?a?=`).join(' '),
  ),
  parts('encoded words', 'encoded words of two charsets in turn', (n) =>
    times('=?utf-8?q?a?= =?iso-8859-2?b?YQ==?= ', n),
  ),
  parts('encoded words', 'encoded words of one charset in as many spellings', (n) =>
    Array.from({ length: n / 28 }, (_, at) => `=?c${'-'.repeat(at % 12)}p8${at}-5.0?q?a?=`).join(' '),
  ),
  parts('encoded words', 'encoded words of as many code pages', (n) =>
    Array.from({ length: n / 16 }, (_, at) => `=?cp${at % 1400}?q?a?=`).join(' '),
  ),
  repeated('encoded words', '=?utf-8?q?=ff?= =?big5?q?=ff?= =?x-none?q?=ff?= '),
  repeated('encoded words', '=?utf-8?b?/w?= =?utf-8?b?/w?= =?gbk?b?a?= '),
  parts('mail', 'names of unknown charsets in To', (n) =>
    Array.from({ length: n / 34 }, (_, at) => `To: =?x-${at}?q?a?= <a@b.example>\r\n`).join(''),
  ),
  repeated('encoded words', '=?utf-8?q?'),
  repeated('encoded words', '=?utf-8*'),
  repeated('encoded words', '=?utf-8?b?====', '', '?='),
  repeated('encoded words', '=?'),
  repeated('mail', '=?x-none?q? ', 'Subject: '),
  repeated('mail', '=?x-none?q?a?= ', 'Subject: '),
  repeated('encoded words', '?='),
  repeated('encoded words', ' ', '=?utf-8?q?a?=', '=?utf-8?q?a?='),
  // Addresses
  ...(['lenient addresses', 'strict addresses'] as const).flatMap((reader) => [
    repeated(reader, ';'),
    repeated(reader, ','),
    repeated(reader, 'a,'),
    repeated(reader, 'a, b <c@d.example>,'),
    repeated(reader, 'x ', '', 'y@z.example::::'),
    repeated(reader, ':', 'x y@z.example'),
    repeated(reader, 'x:', '', 'y@z.example'),
    repeated(reader, 'a@b.example '),
    repeated(reader, '<'),
    repeated(reader, '<a'),
    repeated(reader, '< "'),
    repeated(reader, '("', 'a'),
    repeated(reader, '('),
    repeated(reader, '()'),
    repeated(reader, '"'),
    repeated(reader, '"" '),
    repeated(reader, '"\\'),
    repeated(reader, ' '),
    repeated(reader, '='),
    repeated(reader, '=?a?q?'),
    repeated(reader, '@'),
    repeated(reader, '.', 'a@b'),
    repeated(reader, 'a.', '<', '@b.example>'),
    repeated(reader, "'", '', '@b.example'),
    repeated(reader, 'ü', 'a@', '.example'),
    repeated(reader, 'İ, '),
  ]),
  parts(
    'lenient addresses',
    'words and a lost bracket',
    (n) => `${times('x ', n / 2)}<${times('y ', n / 2)}`,
  ),
  // Message-IDs, dates, subjects
  repeated('Message-IDs', '<'),
  repeated('Message-IDs', '<>'),
  repeated('Message-IDs', '<a@b>'),
  repeated('Message-IDs', '"', '<', '@b>'),
  repeated('Message-IDs', '('),
  repeated('Message-IDs', '(a)'),
  repeated('Message-IDs', 'a@'),
  repeated('Message-IDs', ' ', '<', 'a@b>'),
  parts('Message-IDs', 'as many ids', (n) =>
    Array.from({ length: n / 12 }, (_, at) => `<${at}@x.test>`).join(''),
  ),
  repeated('Message-ID', ' ', '<a@b', '>'),
  repeated('Message-ID', '@'),
  repeated('date', '('),
  repeated('date', ' ', 'Mon,', '1 Jan 2026 10:00:00 +0000'),
  repeated('base subject', 're: '),
  repeated('base subject', '[a] '),
  repeated('base subject', '['),
  repeated('base subject', ' ', 're', ':'),
  // Structure of messages
  repeated('mail', '\n', 'Subject: x\n\n', 'x'),
  repeated('mail', '\r\n', 'Message-ID: <a@b>\r\n\r\n', 'x'),
  repeated('mail', '\r\n', HTML, 'x'),
  repeated('mail', 'x\n', 'Subject: x\n\n'),
  repeated('mail', 'a: b\r\n'),
  repeated('mail', 'a\r\n'),
  repeated('mail', ' \r\n', 'a: b\r\n'),
  repeated('mail', ' ', 'To: a@b.example', '\r\n\r\nx'),
  repeated('mail', 'To: a@b.example\r\n'),
  repeated('mail', 'Content-Type: text/plain; charset=x\r\n'),
  repeated('mail', '--b\r\n\r\nx\r\n', MULTIPART),
  repeated('mail', '--b\r\n', MULTIPART),
  repeated('mail', '--bx\r\n', MULTIPART),
  repeated('mail', '--b-\r\n', MULTIPART),
  repeated('mail', '--\n', MULTIPART),
  repeated('mail', '-', MULTIPART),
  repeated('mail', '--b44 x\r\n', NESTED),
  repeated('mail', `--b44${' '.repeat(200)}\n`, NESTED),
  repeated('mail', '--b\r\nContent-Type: text/html\r\n\r\n<b>x\r\n', MULTIPART),
  parts(
    'mail',
    'parts with one name',
    (n) => MULTIPART + times('--b\r\nContent-Disposition: attachment; filename=a\r\n\r\nx\r\n', n),
  ),
  parts('mail', 'ids in HTML and parts with them', (n) =>
    [
      'Content-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n',
      times('cid:a%20', n / 2),
      times('\r\n--b\r\nContent-ID: <a b>\r\nContent-Type: image/png\r\n\r\nx', n / 2),
    ].join(''),
  ),
  // Transfer encodings and charsets
  repeated('base64', 'A=A='),
  repeated('base64', '='),
  repeated('base64', '\n'),
  repeated('base64', 'A\n'),
  repeated('base64', '\u0000A'),
  repeated('quoted-printable', '='),
  repeated('quoted-printable', ' '),
  repeated('quoted-printable', '= '),
  repeated('quoted-printable', ' ='),
  repeated('quoted-printable', '=\r'),
  repeated('quoted-printable', ' \r\n'),
  repeated('charset without a label', 'ä€😀'),
  {
    reader: 'charset UTF-8',
    name: 'damaged bytes',
    make: (bytes) => Buffer.from('\xc3\xa4a\xff'.repeat(bytes / 4), 'latin1'),
  },
  {
    reader: 'charset UTF-8',
    name: 'cut characters',
    make: (bytes) => Buffer.from('\xf0\x9f'.repeat(bytes / 2), 'latin1'),
  },
  repeated('charset ISO-2022-JP', '\u001b$B\u001b(B'),
  { reader: 'charset UTF-8', name: 'bytes 0xff', make: (bytes) => Buffer.alloc(bytes, 0xff) },
  { reader: 'charset without a label', name: 'bytes 0x80', make: (bytes) => Buffer.alloc(bytes, 0x80) },
  repeated('charset UTF-7', '+'),
  repeated('charset UTF-7', '+AGE'),
  repeated('charset UTF-7', '+-'),
  repeated('charset ISO-2022-JP', '\u001b$B'),
  // HTML
  ...(['HTML to text', 'quoted HTML'] as const).flatMap((reader) => [
    repeated(reader, '<'),
    repeated(reader, '<div>'),
    repeated(reader, '<div '),
    repeated(reader, '<a href=x>'),
    repeated(reader, '<!--'),
    repeated(reader, '<a href="\''),
    repeated(reader, '<style>'),
    repeated(reader, '<title>x</title>'),
    repeated(reader, '</p>'),
    repeated(reader, '<div class="a '),
    repeated(reader, '<div id=\t>'),
    repeated(reader, `<div ${'id=\t'.repeat(490)}>`),
    repeated(reader, `<div ${'id='.repeat(600)}>`),
    repeated(reader, `<div id=${' '.repeat(1900)}>`),
    repeated(reader, `<div style="${'border:none;'.repeat(160)}">`),
    repeated(reader, '<a a', '', '>'),
  ]),
  repeated('HTML to text', '<table><tr><td>'),
  repeated('HTML to text', '<ul><li>'),
  repeated('HTML to text', '&'),
  repeated('HTML to text', '&#'),
  repeated('HTML to text', '&amp;'),
  repeated('HTML to text', 'x '),
  repeated('HTML to text', ' '),
  repeated('HTML to text', '\n', '<pre>'),
  repeated('HTML to text', 'x\n', '<ol start=999999999999999><li>'.repeat(48) + '<pre>'),
  repeated('HTML to text', 'x\n', '<blockquote>'.repeat(98) + '<pre>'),
  repeated('HTML to text', 'x ', '<a href=x>'.repeat(98)),
  repeated('HTML to text', 'x ', '<h1>'.repeat(98)),
  repeated('HTML to text', 'x ', '<table><tr><td>'.repeat(32)),
  repeated('HTML to text', ' a="b"', '<p', '>x'),
  parts('HTML to text', 'one tag with as many attributes', (n) => {
    return `<p ${Array.from({ length: n / 7 }, (_, at) => `a${at}`).join(' ')}>x`;
  }),
  repeated('HTML to text', 'y', '<a href="', '">x</a>'.repeat(100)),
  repeated('HTML to text', 'İ', '', '<style>x</style>'),
  repeated('HTML to text', '<b></b>'),
  repeated('HTML to text', '<script>', '<b></b>'.repeat(3000)),
  repeated('HTML to text', '<style></style', '<b></b>'.repeat(3000)),
  repeated('HTML to text', '<img alt="x" alt=\'y\' >', '<b></b>'.repeat(3000)),
  repeated('HTML to text', '<a  href  =  >', '<b></b>'.repeat(3000)),
  repeated('HTML to text', ' href', `${'<b></b>'.repeat(3000)}<a `, '>x</a>'),
  repeated('quoted HTML', '<blockquote>', '<blockquote type=cite>'),
  repeated('quoted HTML', '<div class=gmail_quote></div>'),
  // Texts
  ...(['reply text', 'flowed text', 'search words', 'snippet'] as const).flatMap((reader) => [
    repeated(reader, '\n'),
    repeated(reader, 'x\n'),
    repeated(reader, '>'),
    repeated(reader, '> \n'),
    repeated(reader, ' \n'),
    repeated(reader, '-- \n'),
    repeated(reader, '\u0301'),
    repeated(reader, '漢'),
    repeated(reader, 'İ '),
  ]),
  repeated('reply text', '--\nx\n'),
  repeated('reply text', '--\nx\n\n'),
  repeated('reply text', '-'),
  repeated('reply text', '____________\n'),
  repeated('reply text', '____________\n\n\n\n'),
  repeated('reply text', 'On 1 wrote\n'),
  repeated('reply text', 'On 1 a@b\n'),
  repeated('reply text', 'On 1 a@b wrote:\n'),
  repeated('reply text', 'From: a\n'),
  repeated('reply text', 'From: a\nTo: b\n'),
  repeated('reply text', 'Sent from my x\n'),
  repeated('reply text', 'Sent from my x\n\n\n\n\n\n\n\n\n\n'),
  repeated('reply text', '>x\n\n'),
  repeated('reply text', ' >x\n'),
  repeated('reply text', `von meinem ${'x'.repeat(400)}\n`),
  repeated('reply text', `${' '.repeat(400)}x\n`),
  repeated('reply text', `On ${'1'.repeat(400)}\n`),
  repeated('search words', 'é'),
  repeated('search words', 'a漢'),
  repeated('search query', '"'),
  repeated('search query', '-'),
  // Bounces
  parts(
    'mail',
    'a report on many recipients',
    dsn((n) => times('Final-Recipient: rfc822; a@b.example\r\n\r\n', n)),
  ),
  parts(
    'mail',
    'a report of empty lines',
    dsn((n) => times(' \r\n', n)),
  ),
  parts(
    'mail',
    'a report of CRs',
    dsn((n) => times('\r', n)),
  ),
  parts(
    'mail',
    'a report of spaces',
    dsn((n) => `Final-Recipient: x${times(' ', n)};`),
  ),
  parts(
    'mail',
    'a report with many diagnostics',
    dsn((n) =>
      times(`Final-Recipient: rfc822; a@b.example\r\nDiagnostic-Code: ${'user '.repeat(180)}\r\n\r\n`, n),
    ),
  ),
  parts(
    'mail',
    'a report with many full mailboxes',
    dsn((n) =>
      times(`Final-Recipient: rfc822; a@b.example\r\nDiagnostic-Code: ${'mailbox '.repeat(110)}\r\n\r\n`, n),
    ),
  ),
  parts(
    'mail',
    'a report with escapes',
    dsn((n) => `Final-Recipient: rfc822; ${times('\\x{41}', n)}@b.example`),
  ),
  parts(
    'mail',
    'a notice that names many recipients',
    notice((n) => times('<a@b.example>:\n', n)),
  ),
  parts(
    'mail',
    'a notice of long lines with addresses',
    notice((n) => times(`${'a@b.example '.repeat(80)}\n`, n)),
  ),
  parts(
    'mail',
    'a notice of words',
    notice((n) => times(`${'a '.repeat(490)}@\n`, n)),
  ),
  parts(
    'mail',
    'a notice of at signs',
    notice((n) => times(`${'a@'.repeat(490)}\n`, n)),
  ),
  parts(
    'mail',
    'a notice of white space',
    notice((n) => times(`${' '.repeat(980)}@\n`, n)),
  ),
  repeated('failure severity', 'mailbox '),
  repeated('failure severity', 'user '),
  repeated('failure severity', 'no such '),
  // Files and the rest
  // Reports
  repeated('aggregate report', '<a>', '<feedback>'),
  repeated('aggregate report', '</a>', '<feedback>'),
  repeated('aggregate report', '<a/>', '<feedback>'),
  repeated('aggregate report', ' a="b"', '<feedback'),
  repeated('aggregate report', '&a;', '<feedback><report_metadata><org_name>'),
  repeated('aggregate report', '<record><row><count>1</count></row></record>', '<feedback>'),
  repeated('aggregate report', '{"policy":{}},', '{"policies":[', '{}]}'),
  // Rich text
  repeated('RTF', '{'),
  repeated('RTF', '{}'),
  repeated('RTF', "\\'e4\\par", '{\\rtf1 '),
  repeated('RTF', '\\'),
  repeated('RTF', 'a\n', '{\\rtf1 '),
  repeated('RTF', '{\\field{\\*\\fldinst HYPERLINK "a"}', '{\\rtf1 '),
  repeated('RTF', '{\\field{\\*\\fldinst HYPERLINK "a"}}', '{\\rtf1 '),
  repeated('RTF', 'x ', '{\\rtf1 {\\field{\\*\\fldinst HYPERLINK "', '}}'),
  {
    reader: 'TNEF',
    name: 'files with one name',
    make: (bytes) => tnef(Array.from({ length: Math.floor(bytes / 54) }, () => TNEF_FILE).flat()),
  },
  {
    reader: 'mail',
    name: 'a winmail.dat of files with one name',
    make: (bytes) =>
      Buffer.concat([
        Buffer.from('Content-Type: application/ms-tnef\r\n\r\n'),
        tnef(Array.from({ length: Math.floor(bytes / 54) }, () => TNEF_FILE).flat()),
      ]),
  },
  repeated('mbox', '>', 'From a Mon Jan  5 10:00:00 2026\n'),
  repeated('mbox', '\n', 'From a Mon Jan  5 10:00:00 2026\n'),
  repeated('mbox', 'From \n', 'From a Mon Jan  5 10:00:00 2026\n'),
  repeated('mbox', 'From a Mon Jan  5 10:00:00 2026\n\n', ''),
  repeated('mbox', `From ${' Mon, 1:00 '.repeat(80)}2026\n\n`),
  repeated('mbox', 'x\n', 'From a Mon Jan  5 10:00:00 2026\n'),
  repeated('mbox status', 'Status :\n'),
  repeated('mbox status', 'Status\t', 'Status: O\n'),
  repeated('mbox status', '\r\n \r', 'a'),
  repeated('header fields', 'a :'),
  repeated('header fields', 'from\n'),
  repeated('header fields', 'from \nx: y\n'),
  repeated('header fields', '\u0000'),
  repeated('header summary of a mailbox', ';', 'From: '),
  repeated('SMTP reply', '250-x\r\n', '', '250 x'),
  repeated('SMTP reply', '\n', '250 x', 'x'),
  repeated('SMTP reply', '\n', '250 x'),
  repeated('SMTP reply', 'a-', '250 Ok '),
  repeated('SMTP reply', ' ', '250 2.0.0'),
  repeated('file name', '.'),
  repeated('file name', ' .', 'a', 'b'),
  repeated('file name', '/'),
  repeated('file name', '\u0301', 'a'),
  repeated('base64 of a caller', '='),
  repeated('base64 of a caller', ' '),
  repeated('base64 of a caller', 'A '),
  repeated('JSON string', '\\u0041'),
  repeated('JSON string', '\\"'),
  repeated('text to send', ' '),
  repeated('text to send', '\r'),
  repeated('text to send', '\nFrom '),
  repeated('header to send', ' '),
  repeated('header to send', 'ü'),
  repeated('parameter to send', 'ü'),
];
