import { describe, expect, it } from 'vitest';
import { parseMessageDate } from './date.ts';

describe('parseMessageDate', () => {
  it.each([
    ['RFC 5322', 'Mon, 02 Mar 2026 09:15:00 +0100', '2026-03-02T08:15:00.000Z'],
    ['no seconds, no day of the week', '2 Mar 2026 09:15 -0530', '2026-03-02T14:45:00.000Z'],
    ['a comment', 'Mon, 2 Mar 2026 09:15:00 +0900 (JST)', '2026-03-02T00:15:00.000Z'],
    [
      'comments within comments',
      'Mon, 2 Mar 2026 (a (b) \\) c) 09:15:00 +0900 (JST (Tokyo))',
      '2026-03-02T00:15:00.000Z',
    ],
    ['a comment that never ends', '2 Mar 2026 09:15:00 +0100 (CET (x)', '2026-03-02T08:15:00.000Z'],
    ['a zone of three digits', '2 Mar 2026 09:15:00 -600', '2026-03-02T15:15:00.000Z'],
    ['a zone of one digit', '2 Mar 2026 09:15:00 +1', '2026-03-02T08:15:00.000Z'],
    ['a zone of hours', '2 Mar 2026 09:15:00 GMT+01', '2026-03-02T08:15:00.000Z'],
    ['white space within a zone', '2 Mar 2026 09:15:00 + 0100', '2026-03-02T08:15:00.000Z'],
    ['an obsolete year and zone', '21 Nov 97 09:55:06 EST', '1997-11-21T14:55:06.000Z'],
    ['a year of three digits', '1 Jan 103 00:00:00 GMT', '2003-01-01T00:00:00.000Z'],
    ['no zone', 'Mon, 2 Mar 2026 09:15:00', '2026-03-02T09:15:00.000Z'],
    ['a full month and hyphens', 'Monday, 2-March-2026 09:15:00 +0000', '2026-03-02T09:15:00.000Z'],
    ['ISO 8601', '2026-03-02T09:15:00.123+01:00', '2026-03-02T08:15:00.000Z'],
    ['asctime', 'Mon Mar  2 09:15:00 2026', '2026-03-02T09:15:00.000Z'],
    ['half days', '2 Mar 2026 9:15:00 PM +0000', '2026-03-02T21:15:00.000Z'],
    ['a leap second', 'Sat, 31 Dec 2016 23:59:60 +0000', '2017-01-01T00:00:00.000Z'],
    ['no space after the day of the week', 'Fri,12 Dec 2025 16:29:29 +0100', '2025-12-12T15:29:29.000Z'],
    ['a dot and no space', 'Fr.,12 Dec 2025 16:29:29 +0100', '2025-12-12T15:29:29.000Z'],
    ['a zone in encoded words', 'Fri, 12 Dec 2025 16:36:00 =?utf-8?Q?+0100?=', '2025-12-12T15:36:00.000Z'],
    ['encoded words', '=?utf-8?Q?Fri=2C_12_Dec_2025_16=3A36=3A00_+0100?=', '2025-12-12T15:36:00.000Z'],
    ['an encoded month', 'ven., 12 =?utf-8?Q?d=C3=A9c=2E?= 2025 16:36:00 +0100', '2025-12-12T15:36:00.000Z'],
    ['German', 'Fr, 12 Dez 2025 16:36:00 +0100', '2025-12-12T15:36:00.000Z'],
    ['German with dots', 'Fr., 12. Dez. 2025 16:36:00 +0100', '2025-12-12T15:36:00.000Z'],
    ['German in May', 'Di, 12 Mai 2026 16:36:00 +0200', '2026-05-12T14:36:00.000Z'],
    ['German in March', 'Do, 12 M\u00e4r 2026 16:36:00 +0100', '2026-03-12T15:36:00.000Z'],
    ['German in full', 'Donnerstag, 12. M\u00e4rz 2026 16:36:00 +0100', '2026-03-12T15:36:00.000Z'],
    ['German with a decomposed accent', 'Do, 12 Ma\u0308r 2026 16:36:00 +0100', '2026-03-12T15:36:00.000Z'],
    ['German in October', 'Mo, 12 Okt 2026 16:36:00 +0200', '2026-10-12T14:36:00.000Z'],
    ['Austrian', 'Mo, 12 J\u00e4n 2026 16:36:00 +0100', '2026-01-12T15:36:00.000Z'],
    ['French', '12 d\u00e9c. 2025 16:36:00 +0100', '2025-12-12T15:36:00.000Z'],
    ['French in February', 'jeu., 12 f\u00e9vr. 2026 16:36:00 +0100', '2026-02-12T15:36:00.000Z'],
    ['French in June', 'ven., 12 juin 2026 16:36:00 +0200', '2026-06-12T14:36:00.000Z'],
    ['French in July', 'dim., 12 juil. 2026 16:36:00 +0200', '2026-07-12T14:36:00.000Z'],
    ['French in August', 'mer., 12 ao\u00fbt 2026 16:36:00 +0200', '2026-08-12T14:36:00.000Z'],
    ['Spanish', 'lun, 12 ene 2026 16:36:00 +0100', '2026-01-12T15:36:00.000Z'],
    ['Italian', 'mar, 12 mag 2026 16:36:00 +0200', '2026-05-12T14:36:00.000Z'],
    ['Portuguese', 'seg, 12 out 2026 16:36:00 -0300', '2026-10-12T19:36:00.000Z'],
    ['Dutch', 'do, 12 mrt 2026 16:36:00 +0100', '2026-03-12T15:36:00.000Z'],
    ['an impossible zone', '2 Mar 2026 09:15:00 +9900', '2026-03-02T09:15:00.000Z'],
  ])('reads %s', (_, text, expected) => {
    expect(parseMessageDate(text)?.toISOString()).toBe(expected);
  });

  it.each([
    '',
    'yesterday',
    '31 Feb 2026 09:15:00 +0000',
    '2 Foo 2026 09:15:00',
    '2 Mar 2026 25:00:00',
    '2026-13-01T00:00',
  ])('refuses %j', (text) => {
    expect(parseMessageDate(text)).toBeNull();
  });
});
