import { describe, expect, it } from 'vitest';
import { parseMessage } from './parse.ts';
import { MAX_HEADER_BYTES } from '../limits.ts';
import { shortenHeader } from './shorten-header.ts';

const shorten = (...lines: readonly string[]) => shortenHeader(Buffer.from(lines.join('\r\n'))).toString();

describe('shortenHeader', () => {
  it('keeps the fields that an email is recorded and found by, as they stand', () => {
    const kept = [
      'Message-ID: <a@example.com>',
      'Date: Sun, 01 Mar 2026 12:00:00 +0100',
      'From: =?UTF-8?Q?M=C3=BCller?= <m@example.com>',
      'To: a@example.com,',
      ' b@example.com',
      'Cc: c@example.com',
      'Subject: one',
      '\ttwo',
      'In-Reply-To: <two@mail.example.com>',
      'References: <one@mail.example.com>',
      ' <two@mail.example.com>',
    ];
    const header = [...kept, 'Content-Type: text/html; charset=utf-8', 'X-Other: 1', '', 'Body'];
    const {
      fields: _,
      contentDigest: __,
      fileDigests: _4,
      defects: ___,
      ...shortened
    } = parseMessage(shortenHeader(Buffer.from(header.join('\r\n'))));
    const {
      fields: _1,
      contentDigest: _2,
      fileDigests: _5,
      defects: _3,
      ...whole
    } = parseMessage(Buffer.from([...kept, '', ''].join('\r\n')));
    expect({ ...shortened, sizeBytes: 0 }).toEqual({ ...whole, sizeBytes: 0 });
    expect(shortened.to).toHaveLength(2);
    expect(shortened.references).toEqual(['one@mail.example.com', 'two@mail.example.com']);
  });

  it('skips empty lines in front of a header, but not of a body', () => {
    expect(shorten('', '', 'X-Y: z', 'Subject: one', '', 'Body')).toBe('subject: one\r\n\r\n');
    expect(shorten('', 'Hello', 'Subject: one')).toBe('\r\n');
  });

  it.each([
    ['a second field of a kind', ['Subject: one', 'Subject: two']],
    ['a field that is not needed', ['Subject: one', 'X-Mailer: two', ' three']],
    ['a line that is no field', ['Subject: one', 'no field', ' three']],
    ['what follows the empty line', ['Subject: one', '', 'To: body@example.com']],
    ['a line of an mbox file', ['From ada@example.com Mon Jan  5 10:00:00 2026', 'Subject: one']],
    ['white space before the colon', ['Subject : one']],
    ['the name of a property of all objects', ['constructor: x', '__proto__: y', 'Subject: one']],
  ])('leaves out %s', (_, lines) => {
    expect(shorten(...lines)).toBe('subject: one\r\n\r\n');
  });

  it('finds what stands behind a very long field', () => {
    const to = `To: ${`${';'.repeat(900)}\r\n `.repeat(1000)}x`;
    expect(shorten(to, 'Message-ID: <a@example.com>')).toContain('message-id: <a@example.com>\r\n');
  });

  it('takes lines with LF alone', () => {
    expect(shortenHeader(Buffer.from('Subject: one\n two\nTo: a@example.com\n\nbody')).toString()).toBe(
      'subject: one\r\n two\r\nto: a@example.com\r\n\r\n',
    );
  });

  it('cuts lists behind an address or an id, in one line or in many', () => {
    const to = Array.from({ length: 500 }, (_, index) => `${index}@example.com`);
    for (const separator of [', ', ',\r\n ']) {
      const message = parseMessage(shortenHeader(Buffer.from(`To: ${to.join(separator)}\r\n\r\n`)));
      const addresses = message.to.map(({ localPart, domain }) => `${localPart}@${domain}`);
      expect(addresses.length).toBeGreaterThan(50);
      expect(addresses).toEqual(to.slice(0, addresses.length));
    }
    const ids = Array.from({ length: 1000 }, (_, index) => `<${index}@example.com>`);
    const { references } = parseMessage(shortenHeader(Buffer.from(`References: ${ids.join(' ')}\r\n\r\n`)));
    expect(references.length).toBeGreaterThan(50);
    expect(ids).toEqual(expect.arrayContaining(references.map((id) => `<${id}>`)));
  });

  it('gives a small header, whatever it gets', () => {
    const names = [
      'From',
      'To',
      'Cc',
      'Subject',
      'Message-ID',
      'Date',
      'References',
      'In-Reply-To',
      'Status',
    ];
    const huge = names.map((name) => `${name}: ${'x '.repeat(200_000)}`).join('\r\n');
    expect(shortenHeader(Buffer.from(huge)).length).toBeLessThan(30_000);
    const folded = names.map((name) => `${name}: x${'\r\n x'.repeat(200_000)}`).join('\r\n');
    expect(shortenHeader(Buffer.from(folded)).length).toBeLessThan(60_000);
    expect(shortenHeader(Buffer.alloc(MAX_HEADER_BYTES * 2, ':')).toString()).toBe('\r\n');
  });
});
