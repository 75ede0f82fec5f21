import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  describeMessage,
  EML_FIXTURES,
  EML_FOLDER,
  readMessage,
} from '../../../../test/helpers/eml-fixtures.ts';
import { expectCpuBelow } from '../../../../test/readers/cpu-time.ts';
import { MessageLimitError } from './message-limit-error.ts';
import { createMessageParser, parseMessage } from './parse.ts';
import type { ParsedMessage } from './parsed-message.ts';
import { shortenHeader } from './shorten-header.ts';

describe('parseMessage', () => {
  it.each(EML_FIXTURES.map(({ name, raw }) => [name, raw] as const))('reads %s', (name, raw) => {
    const expected: unknown = JSON.parse(readFileSync(new URL(`${name}.json`, EML_FOLDER), 'utf8'));
    expect(describeMessage(raw)).toEqual(expected);
  });

  it.each([
    ['header_bytes', `X: ${'a'.repeat(2000)}\r\n\r\nx`, { headerBytes: 1000 }],
    ['header_fields', `${'A: b\r\n'.repeat(50)}\r\nx`, { headerFields: 20 }],
    ['parts', `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\n'.repeat(9)}`, { parts: 5 }],
    ['text_bytes', `A: b\r\n\r\n${'x'.repeat(2000)}`, { textBytes: 1000 }],
    ['addresses', `To: ${'a@x.test,'.repeat(30)}\r\n\r\nx`, { addresses: 10 }],
  ] as const)('throws with what it could read when a message passes the limit %s', (limit, text, limits) => {
    let thrown: unknown = null;
    try {
      parseMessage(Buffer.from(`From: a@x.test\r\nSubject: s\r\n${text}`), limits);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(MessageLimitError);
    const { limit: passed, partial } = thrown as MessageLimitError;
    expect(passed).toBe(limit);
    expect(partial.subject).toBe('s');
    expect(partial.defects).toContain('limit_passed');
  });

  it.each([0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d as a limit', (parts) => {
    expect(() => parseMessage(Buffer.alloc(0), { parts })).toThrow(RangeError);
  });

  it(
    'keeps memory flat for a message of 200 MB, and its attachment can be read from the range',
    { tags: ['long'] },
    () => {
      const line = Buffer.from(`${'QUJD'.repeat(19)}\r\n`);
      const chunk = Buffer.concat(Array.from({ length: 1000 }, () => line));
      const head = Buffer.from(
        'From: a@x.test\r\nMessage-ID: <a@x.test>\r\nDate: Mon, 2 Mar 2026 09:15:00 +0000\r\n' +
          'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\ntext\r\n--b\r\n' +
          'Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n',
      );
      const parser = createMessageParser();
      const before = process.memoryUsage();
      let peak = 0;
      parser.write(head);
      const chunks = 2564;
      for (let n = 0; n < chunks; n++) {
        parser.write(chunk);
        const { heapUsed, arrayBuffers } = process.memoryUsage();
        peak = Math.max(peak, heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers);
      }
      parser.write(Buffer.from('--b--\r\n'));
      const message = parser.end();
      expect(message.text).toBe('text');
      expect(message.attachments).toEqual([
        expect.objectContaining({
          content: {
            kind: 'range',
            start: head.length,
            end: head.length + chunks * chunk.length - 2,
            encoding: 'base64',
          },
        }),
      ]);
      // The garbage collector decides when; without a bound of our own it would be 200 MB and more.
      expect(peak).toBeLessThan(100_000_000);
    },
  );

  it.each([
    ['Subject: ', '=?utf-8?q?'],
    ['Subject: ', '=?utf-8?q?a?= '],
    ['Subject: ', '=?x?='],
    ['To: ', '<'],
    ['To: ', '"'],
    ['To: ', '('],
    ['To: ', '(a)'],
    ['To: ', 'a,'],
    ['To: ', '"a" '],
    ['To: ', '<"a'],
    ['To: ', 'a:'],
    ['To: ', 'a@'],
    ['To: ', '\\'],
    ['Content-Type: text/plain;', ' a="b";'],
    ['Content-Type: text/plain;', '"'],
    ['Content-Type: text/plain;', ' a*1*=%c3;'],
    ['Content-Type: text/plain;', '\\"'],
    ['Date: ', '('],
    ['Date: ', ' '],
    ['References: ', '<'],
    ['X: y\r\n', 'not a field\r\n'],
    ['X: y\r\n', ' \r\n'],
    ['\r\nX: y\r\n', 'not a field\r\n'],
    ['', '\r\n'],
    ['X: y\r', '\r'],
    ['X: y\r', 'A: b\r'],
  ])('needs linear time for %j and many %j', (start, unit) => {
    const raw = Buffer.from(`${start}${unit.repeat(Math.floor(950_000 / unit.length))}\r\n\r\nx`);
    expectCpuBelow(1500, () => expect(readMessage(raw).message.sizeBytes).toBe(raw.length));
  });

  it.each([
    ['7bit', 'text/plain', '\r\n'],
    ['7bit', 'text/plain; format=flowed', 'a \r\n'],
    ['quoted-printable', 'text/plain', '='],
    ['quoted-printable', 'text/plain', ' '],
    ['quoted-printable', 'text/plain', '= '],
    ['base64', 'text/plain', '='],
    ['base64', 'text/plain', 'QQ=='],
    ['7bit', 'multipart/mixed; boundary=b', '--b\r\n'],
    ['7bit', 'multipart/mixed; boundary=b', '--'],
    ['7bit', 'multipart/mixed; boundary=b', '--b--\r\n'],
    ['7bit', 'text/html', '<div>'],
    ['7bit', 'text/html', 'cid:'],
    ['7bit', 'message/rfc822', 'x\r\n'],
  ])('needs linear time for a body in %s of %s and many %j', (encoding, type, unit) => {
    const head = `Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`;
    const raw = Buffer.from(head + unit.repeat(Math.floor(2_000_000 / unit.length)));
    expectCpuBelow(2000, () => expect(readMessage(raw).message.sizeBytes).toBe(raw.length));
  });

  it('reads Message-IDs in encoded words, as Python writes long ones, and all fields of References', () => {
    const message = parseMessage(
      Buffer.from(
        'Message-ID: =?utf-8?q?=3CVI1PR04MB0=40eurprd04=2Eprod=2Eexample?=\r\n =?utf-8?q?=2Ecom=3E?=\r\n' +
          'In-Reply-To: =?utf-8?q?=3CAM0PR0=40eurprd04=2Eprod=2Eexample=2Ecom=3E?=\r\n' +
          'References: <a@x.test>\r\nReferences: <b@x.test>\r\nReferences: <a@x.test> <c@x.test>\r\n\r\nx',
      ),
    );
    expect(message).toMatchObject({
      messageId: 'VI1PR04MB0@eurprd04.prod.example.com',
      writtenMessageId: null,
      inReplyTo: ['AM0PR0@eurprd04.prod.example.com'],
      references: ['a@x.test', 'b@x.test', 'c@x.test'],
    });
    expect(message.defects).toContain('duplicate_field');
  });

  it.each(['', '\r\n'])('skips a byte order mark in front of the header, and %j', (empty) => {
    const raw = Buffer.from(`\ufeff${empty}Message-ID: <a@x.test>\r\nFrom: a@x.test\r\nSubject: s\r\n\r\nt`);
    for (const message of [parseMessage(raw), inBytes(raw)]) {
      expect(message).toMatchObject({
        messageId: 'a@x.test',
        subject: 's',
        text: 't',
        sizeBytes: raw.length,
      });
      expect(message.defects).toEqual(['missing_date']);
    }
    expect(shortenHeader(raw).toString()).toContain('message-id: <a@x.test>\r\n');
  });

  describe('empty lines in front of the header', () => {
    const header = 'X-Y: z\r\nFrom: a@x.test\r\nSubject: s\r\n';

    it.each(['\r\n', '\n', '\r\n\n\r\n', '\n'.repeat(100)])('%j are skipped', (empty) => {
      const raw = Buffer.from(
        `${empty}${header}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nt\r\n--b--`,
      );
      for (const message of [parseMessage(raw), inBytes(raw)]) {
        expect(message).toMatchObject({ subject: 's', text: 't', sizeBytes: raw.length });
        expect(message.defects).toEqual(['missing_message_id', 'missing_date']);
      }
    });

    it.each([
      ['\r\nHello: all\r\n\r\nFrom: a@x.test', 'Hello: all\n\nFrom: a@x.test'],
      ['\r\nHello all\r\nFrom: a@x.test', 'Hello all\nFrom: a@x.test'],
      ['\r\n\r\n\r\ntext', '\n\ntext'],
      [`${'\n'.repeat(200)}From: a@x.test\n\nx`, `${'\n'.repeat(199)}From: a@x.test\n\nx`],
      ['\r\n', ''],
      ['\n\n', ''],
    ])('without a header belong to the body: %j', (raw, text) => {
      for (const message of [parseMessage(Buffer.from(raw)), inBytes(Buffer.from(raw))]) {
        expect(message).toMatchObject({ text, from: [], subject: '' });
        expect(message.defects).not.toContain('header_without_end');
        expect(message.defects).not.toContain('malformed_header');
      }
    });
  });

  describe('lines that end in CR alone', () => {
    const lines = [
      'From: a@x.test',
      'Subject: a',
      ' b',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      '',
      'one',
      'two',
      '--b',
      'Content-Type: text/html',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'thr=',
      'ee',
      '--b',
      'Content-Type: image/png; name=a.png',
      '',
      'four',
      '--b--',
      '',
    ];
    const raw = Buffer.from(lines.join('\r'));

    it('are read where the message has no LF', () => {
      const expected = parseMessage(Buffer.from(lines.join('\n')));
      expect(expected).toMatchObject({ subject: 'a b', text: 'one\ntwo\n\nthree' });
      expect(parseMessage(raw)).toEqual(expected);
      expect(inBytes(raw)).toEqual(expected);
    });

    it('are read in a message of any size', () => {
      const large = Buffer.from(`From: a@x.test\r\r${'x\r'.repeat(1_000_000)}y`);
      expect(parseMessage(large).text).toBe(`${'x\n'.repeat(1_000_000)}y`);
    });

    it('are none where the message has an LF', () => {
      const message = parseMessage(Buffer.from('From: a@x.test\r\nSubject: a\rTo: b@x.test\r\n\r\nx\ry'));
      expect(message).toMatchObject({ to: [], text: 'x\ny' });
    });

    it('stand beside CRLF behind a long beginning without one', () => {
      const mixed = Buffer.from(`From: a@x.test\r\r${'x\r'.repeat(5000)}y\r\nz\r`);
      expect(parseMessage(mixed).text).toBe(`${'x\n'.repeat(5000)}y\nz`);
      expect(inBytes(mixed)).toEqual(parseMessage(mixed));
    });
  });

  describe('a multipart that is Base64 as a whole', () => {
    const body = [
      '--b\r\n\r\nGrüße\r\n',
      '--b\r\nContent-Type: image/png; name=a.png\r\nContent-Transfer-Encoding: base64\r\n\r\nAAEC\r\n',
      '--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/html\r\n\r\n<p>x\r\n--c--\r\n',
      '--b--\r\n',
    ].join('');
    const encoded = (content: string, encoding = 'base64') =>
      parseMessage(
        Buffer.from(
          `Content-Type: multipart/mixed;\r\n boundary="b"\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${content}`,
        ),
      );
    const base64 = Buffer.from(body).toString('base64').replace(/.{76}/g, '$&\r\n');

    it('is opened', () => {
      const { text, html, attachments, defects } = encoded(base64);
      expect({ text, html }).toEqual({ text: 'Grüße\n\nx', html: '<pre>Grüße</pre>\n<p>x' });
      expect(attachments).toMatchObject([
        { filename: 'a.png', partPath: '2', content: { kind: 'bytes', bytes: Buffer.of(0, 1, 2) } },
      ]);
      expect(defects).toEqual(['missing_from', 'missing_message_id', 'missing_date']);
    });

    it('is read as it is where it only says so', () => {
      expect(encoded(body).attachments).toMatchObject([{ partPath: '2', content: { kind: 'range' } }]);
      expect(encoded(body).text).toBe('Grüße\n\nx');
    });

    it('is a text without parts where no delimiter is in it', () => {
      const other = Buffer.from('no delimiter').toString('base64');
      expect(encoded(other)).toMatchObject({ text: other, attachments: [] });
      expect(encoded(other).defects).toContain('multipart_without_parts');
      expect(encoded(base64, '7bit').defects).toContain('multipart_without_parts');
    });

    it('is opened once, and within the limits', () => {
      const again = `--b\r\nContent-Type: multipart/mixed; boundary=c\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64}\r\n--b--`;
      expect(encoded(Buffer.from(again).toString('base64')).defects).toContain('multipart_without_parts');
      const many = Buffer.from('--b\r\n\r\n'.repeat(2000)).toString('base64');
      expect(() => encoded(many)).toThrow(MessageLimitError);
    });
  });

  it('reads HTML in the charset that it names itself, where its Content-Type has none', () => {
    const raw = 'Content-Type: text/html\r\n\r\n<meta charset=koi8-r><p>\xf0\xd2\xc9\xd7\xc5\xd4';
    const { text, html } = parseMessage(Buffer.from(raw, 'latin1'));
    expect({ text, html }).toEqual({ text: 'Привет', html: '<meta charset=utf-8><p>Привет' });
  });

  describe('a header without its empty line', () => {
    const two = (end: string): string =>
      `Content-Type: multipart/mixed; boundary=b\n${end}--b\nContent-Type: text/plain\n\nErstens\n` +
      '--b\nContent-Type: text/plain\n\nZweitens\n--b--\n';
    it.each([[''], [' \n'], ['\t\n'], [' \r\n']])('ends at its own boundary: %j', (end) => {
      expect(parseMessage(Buffer.from(`Subject: s\n${two(end)}`)).text).toBe('Erstens\n\nZweitens');
      const inner = two(end).replaceAll('--b', '--c').replace('boundary=b', 'boundary=c');
      const nested = `Content-Type: multipart/mixed; boundary=b\n${end}--b\n${inner}--b\n\nDrittens\n--b--\n`;
      expect(parseMessage(Buffer.from(nested)).text).toBe('Erstens\n\nZweitens\n\nDrittens');
      expect(inBytes(Buffer.from(nested))).toEqual(parseMessage(Buffer.from(nested)));
    });

    it.each([[''], [' \n'], ['\t\n']])('in a part loses no line of its text: %j', (end) => {
      const raw = `Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n${end}Termin:\nDate: 5. Mai\n\nmehr\n--b--\n`;
      const { text } = parseMessage(Buffer.from(raw.replace('Termin:', 'Guten Tag')));
      expect(text).toBe('Guten Tag\nDate: 5. Mai\n\nmehr');
    });

    it('goes on below a line of white space where fields follow', () => {
      const raw = 'X-A: a\n \nContent-Type: text/html\n\n<p>x</p>\n';
      expect(parseMessage(Buffer.from(raw)).html).toBe('<p>x</p>');
    });
  });

  it('shows the HTML for AMP readers where there is no other text, without the style that hides it', () => {
    const amp =
      'Content-Type: text/x-amp-html; charset=utf-8\n\n<!doctype html><html amp4email><head>' +
      '<style amp4email-boilerplate>body{visibility:hidden}</style></head><body><p>Ihr Paket kommt</p></body></html>\n';
    const messageOf = (...parts: readonly string[]) =>
      parseMessage(
        Buffer.from(
          `Content-Type: multipart/alternative; boundary=b\n\n${parts.map((part) => `--b\n${part}\n`).join('')}--b--\n`,
        ),
      );
    const alone = messageOf(amp);
    expect(alone).toMatchObject({ text: 'Ihr Paket kommt', attachments: [] });
    expect(alone.html).toContain('<head></head><body><p>Ihr Paket kommt</p>');
    expect(messageOf('\nDas Paket', amp)).toMatchObject({ text: 'Das Paket', html: null });
  });

  it('shows every alternative that differs', () => {
    const parts = (...given: string[]): ParsedMessage =>
      parseMessage(
        Buffer.from(
          `Content-Type: multipart/alternative; boundary=b\n\n${given.map((part) => `--b\n${part}\n`).join('')}--b--\n`,
        ),
      );
    const plain = (text: string): string => `Content-Type: text/plain\n\n${text}`;
    const html = (text: string): string => `Content-Type: text/html\n\n${text}`;
    expect(parts(plain('Erstens'), plain('Zweitens')).text).toBe('Erstens\n\nZweitens');
    expect(parts(plain('Erstens'), plain('Erstens '), html('<p>Erstens</p>'))).toMatchObject({
      text: 'Erstens',
      html: '<p>Erstens</p>',
    });
    expect(parts(html('<p>Erstens</p>'), html('<p>Zweitens</p>')).html).toBe(
      '<p>Erstens</p>\n<p>Zweitens</p>',
    );
    expect(parts(html('<p>Erstens</p>'), html('<div>Erstens</div><p>Zweitens</p>')).html).toBe(
      '<div>Erstens</div><p>Zweitens</p>',
    );
  });

  it.each(['x-uuencode', 'uuencode', 'x-uue'])('decodes %s', (label) => {
    const lines = "begin 644 a.txt\n,2&%L;&\\L(%=E;'0A\n`\nend\n";
    const header = `Content-Type: text/plain\nContent-Transfer-Encoding: ${label}\n\n`;
    expect(parseMessage(Buffer.from(header + lines)).text).toBe('Hallo, Welt!');
    expect(inBytes(Buffer.from(header + lines)).text).toBe('Hallo, Welt!');
    expect(parseMessage(Buffer.from(`${header}Guten Tag\nMax\n`)).text).toBe('Guten Tag\nMax');
  });

  it.each([
    ['a text', 'text/plain; charset=utf-8', 'Guten Tag,\nbitte um ein Angebot.'],
    ['a word', 'text/plain; charset=utf-8', 'Danke'],
    ['a short word', 'text/plain', 'Test'],
    ['a very short word', 'text/plain', 'Ja'],
    ['short lines', 'text/plain; charset=utf-8', 'Hallo\nbitte liefern\nGruss'],
    ['words and a number', 'text/plain; charset=utf-8', 'Lieferung\nbitte\n7'],
    ['words without marks', 'text/plain', 'bitte um ein Angebot bis Freitag'],
    ['HTML', 'text/html', '<p>Guten Tag</p>'],
  ])('reads %s that is clear under the label of Base64', (_, type, body) => {
    const raw = `Content-Type: ${type}\nContent-Transfer-Encoding: base64\n\n\n${body}\n`;
    const message = parseMessage(Buffer.from(raw));
    expect(message.html ?? message.text).toContain(body);
    expect(message.defects).toContain('wrong_encoding');
    expect(inBytes(Buffer.from(raw))).toEqual(message);
  });

  it('reads Base64 whose charset is wrong', () => {
    const lines = Buffer.from(
      'Grüße aus Köln, bitte liefern Sie fünf Stück am Montag nach München oder Würzburg. '.repeat(3),
      'latin1',
    );
    const encoded = lines
      .subarray(0, lines.length - (lines.length % 3))
      .toString('base64')
      .replace(/.{76}/g, '$&\n');
    const { text } = parseMessage(
      Buffer.from(
        `Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${encoded}\n`,
      ),
    );
    expect(text).toMatch(/^Gr.{1,6}e aus K.{1,4}ln, bitte liefern/);
  });

  it('keeps a clear file under the label of Base64 as it is', () => {
    const raw = `Content-Type: text/csv; name=a.csv\nContent-Disposition: attachment\nContent-Transfer-Encoding: base64\n\nName;Menge\nMehl;5\n`;
    const [file] = parseMessage(Buffer.from(raw)).attachments;
    expect(file?.content).toMatchObject({ kind: 'range', encoding: 'identity' });
  });

  it.each(['text/markdown', 'text/enriched', 'text/xml', 'text/x-unknown'])(
    'shows %s where there is no other text, and keeps it as a file',
    (type) => {
      const { text, attachments } = parseMessage(Buffer.from(`Content-Type: ${type}\n\n# Guten Tag\n`));
      expect(text).toBe('# Guten Tag');
      expect(attachments).toHaveLength(1);
      const beside = parseMessage(
        Buffer.from(
          `Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHallo\n--b\nContent-Type: ${type}\n\n# x\n--b--\n`,
        ),
      );
      expect(beside.text).toBe('Hallo');
    },
  );

  it('names no charset in HTML but the one in which it is given out', () => {
    const raw =
      '<?xml version="1.0" encoding="windows-1252"?><meta http-equiv="Content-Type" content="text/html; charset=windows-1252">B\u00fcro, charset=x';
    const { html } = parseMessage(
      Buffer.from(`Content-Type: text/html; charset=windows-1252\n\n${raw}`, 'latin1'),
    );
    expect(html).toBe(raw.replaceAll('windows-1252', 'utf-8'));
  });

  it('says that marks were left out of the text of its HTML', () => {
    const html = `${'<blockquote>'.repeat(98)}<pre>${'x\n'.repeat(50_000)}`;
    const message = parseMessage(Buffer.from(`Content-Type: text/html\r\n\r\n${html}`));
    expect(message.defects).toContain('html_text_cut');
    expect(message.text.length).toBeLessThan(4 * html.length);
    const joined = parseMessage(
      Buffer.from(
        'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nhello\r\n' +
          `--b\r\nContent-Type: text/html\r\n\r\n${html}\r\n--b--\r\n`,
      ),
    );
    expect(joined.defects).toContain('html_text_cut');
  });

  it('reads the same whatever pieces its long lines come in', () => {
    for (const length of [8190, 8191, 8192, 16_383]) {
      const raw = Buffer.from(
        `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n${'x'.repeat(length)}\r\n--b\r\n` +
          `Content-Type: image/png\r\n\r\n${'y'.repeat(length)}\r\n\r\n--b--\r\n`,
      );
      const whole = parseMessage(raw);
      expect(whole.text).toBe('x'.repeat(length));
      for (const size of [1, 100, 8192, 20_000]) {
        const parser = createMessageParser();
        for (let at = 0; at < raw.length; at += size) parser.write(raw.subarray(at, at + size));
        expect(parser.end()).toEqual(whole);
      }
    }
  });

  it('leaves a winmail.dat packed that would give more attachments than a message may have parts', () => {
    const header = Buffer.from('Content-Type: application/ms-tnef\r\n\r\n');
    expect(parseMessage(Buffer.concat([header, tnefOf(1000)])).attachments).toHaveLength(1000);
    const { attachments, defects } = parseMessage(Buffer.concat([header, tnefOf(1001)]));
    expect(attachments.map(({ filename }) => filename)).toEqual(['winmail.dat']);
    expect(defects).toContain('tnef_not_unpacked');
  });
});

function inBytes(raw: Buffer): ParsedMessage {
  const parser = createMessageParser();
  for (const byte of raw) parser.write(Buffer.of(byte));
  return parser.end();
}

/** A winmail.dat with this many files of one byte: attAttachRendData without data, attAttachData with `x`. */
function tnefOf(count: number): Buffer {
  const attributes = ['02', '02900600', '00000000', '0000', '02', '0f800600', '01000000', '78', '7800'];
  return Buffer.from('789f3e220000' + attributes.join('').repeat(count), 'hex');
}
