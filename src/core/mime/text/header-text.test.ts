import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../address/address.ts';
import { parseMessage } from '../parse/parse.ts';

const parse = (...fields: readonly string[]) =>
  parseMessage(
    Buffer.from(
      ['Date: Mon, 02 Mar 2026 09:15:00 +0100', 'Message-ID: <1@x.test>', ...fields, '', 'x'].join('\r\n'),
      'latin1',
    ),
  );

describe('text of received headers', () => {
  it('is read in an unknown charset as well as it can be, and says so', () => {
    const { subject, from, defects } = parse(
      'From: =?x-odd?Q?M=C3=BCller?= <m@x.test>',
      'Subject: =?x-odd?Q?Gr=FC?= =?x-odd?Q?n?= =?utf-8?Q?_ist_gr=C3=BCn?=',
    );
    expect(subject).toBe('Grün ist grün');
    expect(from.map(formatAddress)).toEqual(['Müller <m@x.test>']);
    expect(defects).toEqual(['unknown_charset']);
  });

  it('with addresses prefers one that is readable', () => {
    const { from, replyTo, to } = parse(
      'From: Mustermann, Vertrieb, m@x.test',
      'Reply-To: Büro; b@x.test',
      'To: Max, e@x.test',
    );
    expect(from.map(formatAddress)).toEqual(['m@x.test']);
    expect(replyTo.map(formatAddress)).toEqual(['b@x.test']);
    expect(to).toHaveLength(2);
  });

  it('has no defect in known charsets, with a language or without', () => {
    expect(parse('From: m@x.test', 'Subject: =?us-ascii*en?Q?x?= =?cp850?Q?=81?=')).toMatchObject({
      subject: 'xü',
      defects: [],
    });
  });

  it('may be ISO-2022-JP without encoded words, over several lines', () => {
    const { subject } = parse(
      'From: m@x.test',
      'Subject: \x1b$BF|K\\\x1b(B',
      ' \x1b$B8l\x1b(B\x1b$BF|\x1b(B!',
    );
    expect(subject).toBe('日本 語日!');
  });

  it('in ISO-2022-JP joins encoded words whose escapes meet', () => {
    const { subject } = parse(
      'From: m@x.test',
      'Subject: =?ISO-2022-JP?B?GyRCRnwbKEI=?=',
      ' =?ISO-2022-JP?B?GyRCS1wbKEI=?=',
    );
    expect(subject).toBe('日本');
  });
});
