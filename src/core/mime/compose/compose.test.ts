import { simpleParser } from 'mailparser';
import { describe, expect, it } from 'vitest';
import type { Address } from '../../address/address.ts';
import type { ServiceError } from '../../errors.ts';
import { parseMessageId } from '../../message/message-id.ts';
import { composeMessage, composeMessageStream, type Draft } from './compose.ts';

const address = (name: string, localPart: string, domain = 'example.com'): Address => ({
  name,
  localPart,
  domain,
});

const DRAFT: Draft = {
  messageId: parseMessageId('<1@example.com>')!,
  date: new Date('2026-03-01T12:00:00.999Z'),
  from: address('Service', 'service'),
  to: [address('Max Müller', 'max', 'example.org'), address('', 'eva')],
  cc: [],
  subject: 'Hello',
  textBody: 'Hello,\nworld\n',
  htmlBody: null,
  inReplyTo: [],
  references: [],
  attachments: [],
  boundarySeed: '0123456789abcdef',
};

const compose = (changes: Partial<Draft>): string =>
  composeMessage({ ...DRAFT, ...changes }).toString('utf8');

const attachment = (filename: string, contentType = 'application/pdf', text = 'abc') => ({
  filename,
  contentType,
  content: { kind: 'bytes' as const, bytes: Buffer.from(text) },
});

describe('composeMessage', () => {
  it('writes a plain text', () => {
    expect(compose({})).toBe(
      [
        'Date: Sun, 01 Mar 2026 12:00:00 +0000',
        'From: Service <service@example.com>',
        'To: =?utf-8?Q?Max_M=C3=BCller?= <max@example.org>, eva@example.com',
        'Subject: Hello',
        'Message-ID: <1@example.com>',
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: 7bit',
        '',
        'Hello,',
        'world',
        '',
      ].join('\r\n'),
    );
  });

  it('writes text, HTML and a file as alternatives within a mixed message', () => {
    const text = compose({ htmlBody: '<p>Hello</p>', attachments: [attachment('a.pdf')] });
    expect(text.slice(text.indexOf('Content-Type'))).toBe(
      [
        'Content-Type: multipart/mixed;',
        ' boundary="=_m_0123456789abcdef"',
        '',
        '--=_m_0123456789abcdef',
        'Content-Type: multipart/alternative;',
        ' boundary="=_a_0123456789abcdef"',
        '',
        '--=_a_0123456789abcdef',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: 7bit',
        '',
        'Hello,',
        'world',
        '',
        '--=_a_0123456789abcdef',
        'Content-Type: text/html; charset=utf-8',
        'Content-Transfer-Encoding: 7bit',
        '',
        '<p>Hello</p>',
        '--=_a_0123456789abcdef--',
        '--=_m_0123456789abcdef',
        'Content-Type: application/pdf',
        'Content-Disposition: attachment;',
        ' filename="a.pdf"',
        'Content-Transfer-Encoding: base64',
        '',
        'YWJj',
        '--=_m_0123456789abcdef--',
        '',
      ].join('\r\n'),
    );
  });

  it('writes In-Reply-To and References, folded, without ids that 7-bit headers cannot hold', () => {
    const ids = Array.from({ length: 3 }, (_, n) => parseMessageId(`${n}${'a'.repeat(30)}@example.com`)!);
    const text = compose({ inReplyTo: [ids[2]!], references: [parseMessageId('ü@x')!, ...ids] });
    expect(text).toContain(`\r\nIn-Reply-To: <${ids[2]}>\r\n`);
    expect(text).toContain(`\r\nReferences: <${ids[0]}>\r\n <${ids[1]}>\r\n <${ids[2]}>\r\n`);
  });

  it('names no recipient when only Bcc was given', () => {
    expect(compose({ to: [] })).toContain('\r\nTo: undisclosed-recipients:;\r\n');
    expect(compose({ to: [], cc: [address('', 'eva')] })).not.toContain('\r\nTo:');
  });

  it('quotes names where it must and folds long lists', () => {
    const to = Array.from({ length: 5 }, (_, n) => address('Muster, Max', `max${n}`));
    expect(compose({ to })).toContain(
      '\r\nTo: "Muster, Max" <max0@example.com>, "Muster, Max" <max1@example.com>,\r\n "Muster, Max" <max2@',
    );
  });

  it('writes a local part that is not ASCII in UTF-8, and nothing else', () => {
    expect(compose({ to: [address('Jürgen', 'jürgen')] })).toContain(
      '\r\nTo: =?utf-8?Q?J=C3=BCrgen?= <jürgen@example.com>\r\n',
    );
  });

  it.each([
    ['leading and trailing spaces', '  a  '],
    ['only spaces', '   '],
    ['several spaces', 'a   b'],
    ['a tab', 'a\tb'],
    ['what looks encoded', '=?utf-8?Q?a?='],
    ['a very long word', 'x'.repeat(2000)],
    ['many words', 'word '.repeat(400).trim()],
    ['emoji', '😀'.repeat(300)],
    ['nothing', ''],
  ])('keeps a subject with %s', async (_, subject) => {
    const raw = composeMessage({ ...DRAFT, subject });
    expect((await simpleParser(raw)).subject ?? '').toBe(subject);
    expect(
      Math.max(
        ...raw
          .toString()
          .split('\r\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(78);
  });

  it('writes file names in RFC 2231, long ones in parts, with an ASCII stand-in', async () => {
    const names = ['Größe "x".pdf', `${'Übersicht '.repeat(12)}.pdf`, `${'a'.repeat(100)}.pdf`];
    const raw = composeMessage({ ...DRAFT, attachments: names.map((name) => attachment(name)) });
    const text = raw.toString('latin1');
    expect(text).toContain(`\r\n name="Gro_e _x_.pdf"\r\n`);
    expect(text).toContain(`\r\n filename*=utf-8''Gr%C3%B6%C3%9Fe%20%22x%22.pdf\r\n`);
    expect(text).toContain(`\r\n filename*0*=utf-8''%C3%9Cbersicht`);
    expect(Math.max(...text.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(78);
    expect((await simpleParser(raw)).attachments.map(({ filename }) => filename)).toEqual(names);
  });

  it('keeps parameters of a content type and sends mails within mails as octets', () => {
    const text = compose({
      attachments: [
        attachment('a.ics', 'text/calendar; method=REQUEST; name=b'),
        attachment('a.eml', 'message/rfc822'),
      ],
    });
    expect(text).toContain('Content-Type: text/calendar;\r\n method="REQUEST"\r\nContent-Disposition');
    expect(text).toContain(
      'Content-Type: application/octet-stream\r\nContent-Disposition: attachment;\r\n filename="a.eml"',
    );
  });

  it('writes an empty attachment that parsers find', async () => {
    const mail = await simpleParser(
      composeMessage({ ...DRAFT, attachments: [attachment('a', 'a/b', ''), attachment('b')] }),
    );
    expect(mail.attachments.map(({ content }) => content.toString())).toEqual(['', 'abc']);
  });

  it('lets no text end a part, even one that knows the boundary', async () => {
    const textBody = '--=_m_0123456789abcdef\n\nevil\n--=_m_0123456789abcdef--';
    const mail = await simpleParser(
      composeMessage({ ...DRAFT, textBody, attachments: [attachment('a.pdf')] }),
    );
    expect(mail.text).toBe(textBody);
    expect(mail.attachments).toHaveLength(1);
  });

  const LF = 'x\nBcc: evil@example.com';
  it.each<[string, Partial<Draft>, string]>([
    ['a line break in the subject', { subject: LF }, 'header_injection subject'],
    ['a NUL in the subject', { subject: 'a\0' }, 'header_injection subject'],
    ['half a character in the subject', { subject: '\ud800' }, 'invalid_text subject'],
    ['a line break in the name of a recipient', { to: [address(LF, 'a')] }, 'header_injection to'],
    ['a line break in a local part', { cc: [address('', LF)] }, 'header_injection cc'],
    ['a line break in a domain', { to: [address('', 'a', LF)] }, 'invalid_address to'],
    ['a second recipient in a domain', { to: [address('', 'a', 'x>, <b@y')] }, 'invalid_address to'],
    ['an empty local part', { from: address('', '') }, 'invalid_address from'],
    ['a NUL in the text', { textBody: 'a\0' }, 'invalid_text text_body'],
    ['half a character in the HTML', { htmlBody: '\ud800' }, 'invalid_text html_body'],
    [
      'a line break in a content type',
      { attachments: [attachment('a'), attachment('b', `a/b${LF}`)] },
      'invalid_content_type attachments[1].content_type',
    ],
  ])('refuses %s', (_, changes, expected) => {
    const [code, field = ''] = expected.split(' ');
    const refusal = refusalOf(() => composeMessage({ ...DRAFT, ...changes }));
    expect(refusal.code).toBe(code);
    expect(refusal.text).toContain(field);
  });

  it('refuses what only a mistake of ours can bring', () => {
    expect(() => compose({ boundarySeed: 'short' })).toThrow(RangeError);
    expect(() => compose({ boundarySeed: '"\r\n0123456789abcdef' })).toThrow(RangeError);
    expect(() => compose({ date: new Date(Number.NaN) })).toThrow(RangeError);
    expect(() => compose({ messageId: parseMessageId('ü@x')! })).toThrow(RangeError);
    const file = { kind: 'file' as const, path: '/x', sizeBytes: 1 };
    expect(() => compose({ attachments: [{ ...attachment('a'), content: file }] })).toThrow(TypeError);
  });
});

describe('composeMessageStream', () => {
  const withFile: Draft = {
    ...DRAFT,
    attachments: [{ ...attachment('a'), content: { kind: 'file', path: '/x', sizeBytes: 1_000_000 } }],
  };

  async function* chunks(count: number): AsyncGenerator<Buffer> {
    for (let n = 0; n < count; n++) yield Buffer.alloc(1000, n);
  }

  it('gives small chunks of a large file', async () => {
    const sizes: number[] = [];
    for await (const chunk of composeMessageStream(withFile, () => chunks(1000))) sizes.push(chunk.length);
    expect(Math.max(...sizes)).toBeLessThan(100_000);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(1_360_000);
  });

  it('fails for a file that was cut or has grown', async () => {
    for (const count of [999, 1001]) {
      const reading = (async () => {
        for await (const chunk of composeMessageStream(withFile, () => chunks(count))) void chunk;
      })();
      await expect(reading).rejects.toThrow('content_missing');
    }
  });

  it('refuses a bad draft before the first chunk is asked for', () => {
    expect(() => composeMessageStream({ ...DRAFT, subject: 'a\n' }, () => chunks(0))).toThrow(
      'header_injection',
    );
  });
});

function refusalOf(action: () => unknown): ServiceError {
  try {
    action();
  } catch (error) {
    return error as ServiceError;
  }
  throw new Error('nothing was refused');
}
