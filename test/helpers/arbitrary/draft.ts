/** Generators of drafts: the content that callers write into emails, and that attackers would write. */
import * as fc from 'fast-check';
import type { Draft } from '../../../src/core/mime/compose/compose.ts';
import type { FilePart } from '../../../src/core/mime/compose/part.ts';
import { addressArbitrary } from './address.ts';
import { messageIdArbitrary } from './message-id.ts';

const BOUNDARY_SEED = '0123456789abcdef0123456789abcdef';

/** Ordinary lines, and lines that careless mail software changes. */
const LINE = fc.oneof(
  fc.constantFrom(
    '',
    '.',
    '..',
    'From me',
    '-- ',
    ' x',
    'x\t',
    '=',
    '=20',
    '=?utf-8?q?x?=',
    'Bcc: evil@x.test',
  ),
  fc.constantFrom(
    `--=_m_${BOUNDARY_SEED}`,
    `--=_a_${BOUNDARY_SEED}--`,
    `--=_r_${BOUNDARY_SEED}`,
    'Ein Satz über Größe und Maß.',
    '日本語のテキスト',
  ),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.integer({ min: 70, max: 1200 }).map((length) => 'x'.repeat(length)),
  fc.integer({ min: 10, max: 300 }).map((length) => 'a€b 😀'.repeat(length)),
);

/** Text that a message can carry: any line ends, no NUL, no lone surrogates, no byte order mark (see encoded-word.test.ts). */
const bodyTextArbitrary: fc.Arbitrary<string> = fc
  .array(fc.tuple(LINE, fc.constantFrom('\n', '\r\n', '\r', '')), { maxLength: 12 })
  .map((lines) =>
    lines
      .map((line) => line.join(''))
      .join('')
      .toWellFormed()
      .replace(/[\0\ufeff]/g, ''),
  );

/** One line of text without controls and byte order marks. */
const subjectArbitrary: fc.Arbitrary<string> = fc
  .oneof(
    fc.constantFrom(
      '',
      ' ',
      'Hello',
      ' leading',
      'trailing  ',
      'a  b',
      'tab\there',
      '=?utf-8?q?x?=',
      'Über Größe',
      '王小明',
    ),
    fc.string({ maxLength: 300, size: 'large' }),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.integer({ min: 50, max: 1500 }).map((length) => 'x'.repeat(length)),
    fc.integer({ min: 50, max: 500 }).map((length) => '😀'.repeat(length)),
  )
  .map((text) => text.toWellFormed().replace(/(?!\t)\p{Cc}|\ufeff/gu, ''));

export const filenameArbitrary: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    '.',
    '..',
    'a.pdf',
    '../../etc/passwd',
    'C:\\x\\y.doc',
    'Größe.pdf',
    'CON.txt',
    '.env',
    '"a".txt',
  ),
  fc.constantFrom('exe.\u202egpj', "a'b%20c;d=e.txt", '=?utf-8?q?x?=.txt', 'x\r\nBcc: y', ' a ', 'a?.b*c'),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.integer({ min: 50, max: 400 }).map((length) => `${'ü'.repeat(length)}.pdf`),
  fc.integer({ min: 50, max: 400 }).map((length) => `${'a b'.repeat(length)}.tar.gz`),
);

const CONTENT_TYPE = fc.constantFrom(
  'application/pdf',
  'text/csv; charset=iso-8859-1',
  'text/calendar;method=REQUEST; charset="utf-8"',
  'message/rfc822',
  'multipart/mixed; boundary=x',
  'image/png; name="x.png"',
  'APPLICATION/Octet-Stream;',
);

const attachmentArbitrary: fc.Arbitrary<FilePart> = fc.record({
  filename: filenameArbitrary,
  contentType: CONTENT_TYPE,
  content: fc
    .oneof(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(56, 57, 58, 114, 58_368, 60_000).map(sawtooth))
    .map((bytes) => ({ kind: 'bytes' as const, bytes: Buffer.from(bytes) })),
  contentId: fc.constantFrom(null, 'logo', 'image001.png@01DA0000.00000000', 'x'.repeat(200)),
  inline: fc.boolean(),
});

export const draftArbitrary: fc.Arbitrary<Draft> = fc.record({
  messageId: messageIdArbitrary,
  date: fc.date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
  from: addressArbitrary,
  to: fc.array(addressArbitrary, { maxLength: 4 }),
  cc: fc.array(addressArbitrary, { maxLength: 2 }),
  replyTo: fc.array(addressArbitrary, { maxLength: 2 }),
  subject: subjectArbitrary,
  textBody: fc.option(bodyTextArbitrary),
  htmlBody: fc.option(bodyTextArbitrary),
  inReplyTo: fc.array(messageIdArbitrary, { maxLength: 1 }),
  references: fc.array(messageIdArbitrary, { maxLength: 10 }),
  attachments: fc.array(attachmentArbitrary, { maxLength: 3 }),
  boundarySeed: fc.constant(BOUNDARY_SEED),
});

/** The attachments in message order: files that the HTML shows stand beside it, before the other files. */
export function filesInOrder({ attachments, htmlBody }: Draft): Draft['attachments'] {
  const isShown = (file: Draft['attachments'][number]) => file.inline === true && htmlBody !== null;
  return [...attachments.filter(isShown), ...attachments.filter((file) => !isShown(file))];
}

function sawtooth(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => index % 251);
}
