import { describe, expect, it } from 'vitest';
import { unpackRtf } from './compressed-rtf.ts';
import { parseMessage } from './parse.ts';
import { readRtf } from './rtf.ts';

const read = (rtf: string) => readRtf(Buffer.from(rtf, 'latin1'));
const textOf = (body: string, head = '') => read(`{\\rtf1\\ansi\\ansicpg1252${head} ${body}}`).text;

describe('readRtf', () => {
  it.each([
    ['escaped bytes in the code page', "Gr\\'fc\\'dfe", '', 'Grüße'],
    [
      'characters of two bytes',
      "\\f1\\'93\\'fa\\'96\\'7b",
      '{\\fonttbl{\\f0 A;}{\\f1\\fcharset128 B;}}',
      '日本',
    ],
    ['the charset of a font', "\\f1\\'cf\\'f0\\f0\\'e4", '{\\fonttbl{\\f1\\fcharset204 B;}}', 'Прä'],
    [
      'Unicode and not what repeats it',
      '\\u8364?5, \\uc2\\u8364EU6, \\uc0\\u-10179\\u-8704',
      '',
      '€5, €6, 😀',
    ],
    ['paragraphs, lines and cells', 'a\\par b\\line c\\par\r\nd\\cell e\\row', '', 'a\nb\nc\nd\te'],
    ['braces and other symbols', '\\{a\\}\\~\\endash\\lquote b\\rquote', '', '{a}\u00a0–‘b’'],
    [
      'nothing of tables, pictures and comments',
      'a{\\*\\generator Riched20;}{\\colortbl;\\red0;}b{\\pict 0102}',
      '',
      'ab',
    ],
    ['nothing that is hidden', 'a{\\v b}c', '', 'ac'],
    ['bytes that mean nothing', 'a\\bin4 }}}}b', '', 'ab'],
    [
      'a link with its target',
      '{\\field{\\*\\fldinst HYPERLINK "https://a.test"}{\\fldrslt Angebot}}!',
      '',
      'Angebot [https://a.test]!',
    ],
  ])('reads %s', (_, body, head, text) => {
    expect(textOf(body, head)).toBe(text);
  });

  it('unwraps the HTML that Outlook keeps in it', () => {
    const { text, html, hasMore } = read(
      '{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 \\deff0{\\fonttbl{\\f0 Arial;}}{\\*\\htmltag64 <p>}\\htmlrtf {\\pict 01}\\par ' +
        "\\htmlrtf0 {\\*\\htmltag84 <b>}\\htmlrtf {\\b \\htmlrtf0 Gr\\'fc\\'dfe{\\*\\mhtmltag84 <i>}{\\*\\htmltag92 </b>}\\htmlrtf }\\htmlrtf0 " +
        '{\\*\\htmltag84 &lt;}\\htmlrtf <\\htmlrtf0 3{\\*\\htmltag72 </p>}}',
    );
    expect({ text, html, hasMore }).toEqual({ text: null, html: '<p><b>Grüße</b>&lt;3</p>', hasMore: false });
  });

  it('tells pictures, objects and what is nested too deeply', () => {
    expect(read('{\\rtf1 a{\\pict 01}}').hasMore).toBe(true);
    expect(read(`{\\rtf1 a${'{'.repeat(300)}b${'}'.repeat(300)}}`)).toEqual({
      text: 'a',
      html: null,
      hasMore: true,
    });
  });
});

// [MS-OXRTFCP] §3.2
const HELLO =
  '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0';
const OVERLAPPING = '1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0';

describe('unpackRtf', () => {
  it.each([
    [HELLO, '{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n'],
    [OVERLAPPING, '{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}'],
    [`${'0f000000'}${'03000000'}4d454c41${'00000000'}${'616263'}`, 'abc'],
  ])('reads the examples of the specification, and text that is not compressed', (hex, text) => {
    expect(unpackRtf(Buffer.from(hex, 'hex'))?.toString('latin1')).toBe(text);
  });

  it('refuses sizes that the bytes do not have, before it takes memory for them', () => {
    const sized = (size: number, raw: number) => {
      const file = Buffer.from(HELLO, 'hex');
      file.writeUInt32LE(size, 0);
      file.writeUInt32LE(raw, 4);
      return unpackRtf(file);
    };
    expect(sized(0xffffffff, 0x2b)).toBe(null);
    expect(sized(0x2d, 0xffffffff)).toBe(null);
    expect(sized(0x2d, 9_000_000)).toBe(null);
    expect(unpackRtf(Buffer.from(HELLO.slice(0, 40), 'hex'))).toBe(null);
  });
});

describe('a winmail.dat whose text is only in RTF', () => {
  const uint32 = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return bytes;
  };
  const attribute = (id: number, data: Buffer) => {
    const sum = data.reduce((total, byte) => (total + byte) & 0xffff, 0);
    return Buffer.concat([
      Buffer.of(1),
      uint32(id),
      uint32(data.length),
      data,
      Buffer.of(sum & 0xff, sum >> 8),
    ]);
  };
  const file = (rtf: string, ofClass: string, damage = '') => {
    const packed = Buffer.concat([
      uint32(12 + rtf.length),
      uint32(rtf.length),
      Buffer.from('MELA'),
      uint32(0),
      Buffer.from(rtf, 'latin1'),
    ]);
    const padding = Buffer.alloc((4 - (packed.length % 4)) % 4);
    const property = [uint32(1), uint32(0x10090102), uint32(1), uint32(packed.length), packed, padding];
    return Buffer.concat([
      Buffer.from('789f3e220000', 'hex'),
      attribute(0x00078008, Buffer.from(`${ofClass}\0`)),
      attribute(0x00069003, Buffer.concat(property)),
      Buffer.from(damage),
    ]).toString('base64');
  };
  const read = (winmail: string, text = '') =>
    parseMessage(
      Buffer.from(
        [
          'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n',
          text,
          '--b\r\nContent-Type: application/ms-tnef\r\nContent-Transfer-Encoding: base64\r\n',
          winmail,
          '--b--',
        ].join('\r\n'),
      ),
    );
  const RTF = "{\\rtf1\\ansi\\ansicpg1252 Bitte um R\\'fcckruf bis Freitag.}";
  const NOTE = 'IPM.Microsoft Mail.Note';

  it('is read, and is a file as well when something in it is not shown', () => {
    const names = (winmail: string, text?: string) => {
      const message = read(winmail, text);
      return [message.text.trim(), message.attachments.map(({ filename }) => filename)];
    };
    const text = 'Bitte um Rückruf bis Freitag.';
    expect(names(file(RTF, NOTE))).toEqual([text, []]);
    expect(names(file(RTF, 'IPM.Appointment'))).toEqual([text, ['winmail.dat']]);
    expect(names(file(RTF, NOTE, 'more'))).toEqual([text, ['winmail.dat']]);
    expect(names(file(RTF.replace('.}', '.{\\pict 01}}'), NOTE))).toEqual([text, ['winmail.dat']]);
    // Beside a text of the mail: another one, then the same.
    expect(names(file(RTF, NOTE), 'Anbei')).toEqual(['Anbei', ['winmail.dat']]);
    expect(names(file(RTF, NOTE), text)).toEqual([text, []]);
  });
});
