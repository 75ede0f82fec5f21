import { describe, expect, it } from 'vitest';
import { expectCpuBelow } from '../../../../test/readers/cpu-time.ts';
import { readParameters } from './read-parameters.ts';

const parameter = (text: string, name: string): string | undefined =>
  readParameters(text).parameters.get(name);

describe('the value of a field', () => {
  it.each([
    ['text/html', 'text/html'],
    [' TEXT/HTML ; charset=x', 'text/html'],
    ['(x) text/html', 'text/html'],
    ['text/html (x)', 'text/html'],
    ['text/html(x);charset=y', 'text/html'],
    ['text/html (x) y', 'text/html'],
    ['text (a) / (b) html (c)', 'text/html'],
    ['(a (b) \\) c) text/html', 'text/html'],
    ['(a; b="c) text/html; charset=x', 'text/html'],
    ['text/html (never closed', 'text/html'],
    ['base64 (really)', 'base64'],
    ['attachment (y)', 'attachment'],
    ['(only)', ''],
    ['', ''],
  ])('of %s is %s', (text, value) => {
    expect(readParameters(text).value).toBe(value);
  });
});

describe('encoded words in sections', () => {
  it.each([
    [
      'a; filename*0="=?UTF-8?Q?Rechnung_f=C3=BCr_"; filename*1="M=C3=BCller.pdf?="',
      'Rechnung für Müller.pdf',
    ],
    ['a; filename*0="=?UTF-8?B?UmVjaG51bmc=?="; filename*1=" =?UTF-8?B?LnBkZg==?="', 'Rechnung.pdf'],
    ["a; filename*0*=utf-8''%3D%3FUTF-8%3FQ%3Fa; filename*1=%3F%3D", '=?UTF-8?Q?a%3F%3D'],
  ])('of %s are %s', (text, value) => {
    expect(parameter(text, 'filename')).toBe(value);
  });
});

describe('comments in parameters', () => {
  it.each([
    ['text/plain; charset=us-ascii (Plain text)', 'charset', 'us-ascii'],
    ['text/plain; charset=koi8-r (Russian)', 'charset', 'koi8-r'],
    ['text/plain; charset=koi8-r(Russian)', 'charset', 'koi8-r'],
    ['text/plain (x) ; (y) charset (z) = koi8-r', 'charset', 'koi8-r'],
    ['text/plain; charset (a=b) = (c) "koi8-r" (d)', 'charset', 'koi8-r'],
    ['text/plain; (charset=utf-8) charset=koi8-r', 'charset', 'koi8-r'],
    ['text/plain; (a; charset=utf-8;) charset=koi8-r', 'charset', 'koi8-r'],
    ['text/plain; (a " b) charset=koi8-r; name="c"', 'charset', 'koi8-r'],
    ['text/plain; (never closed; charset=koi8-r', 'charset', 'koi8-r'],
    ['multipart/mixed; boundary=B (outer)', 'boundary', 'B'],
    ['multipart/mixed; boundary=(outer) B', 'boundary', 'B'],
    ['multipart/mixed; boundary="B" (outer)', 'boundary', 'B'],
    ['multipart/mixed; boundary="a (b)" (c)', 'boundary', 'a (b)'],
    // Without the quotes that they should have
    ['multipart/mixed; boundary=a(b)c', 'boundary', 'a(b)c'],
    ['multipart/mixed; boundary=----(1)', 'boundary', '----(1)'],
  ])('of %s: %s is %s', (text, name, value) => {
    expect(parameter(text, name)).toBe(value);
  });
});

describe('file names with parentheses', () => {
  it.each([
    ['f.x (file)', 'f.x'],
    ['song.mp3 (a (b) \\) c)', 'song.mp3'],
    ['"f.x" (file)', 'f.x'],
    ['"Report (1).pdf" (file)', 'Report (1).pdf'],
    ['"Report (1; 2).pdf"', 'Report (1; 2).pdf'],
    // Written without quotes
    ['Report (1).pdf', 'Report (1).pdf'],
    ['Report(1).pdf', 'Report(1).pdf'],
    ['(final) Report.pdf', '(final) Report.pdf'],
    ['Report 2024.pdf (final)', 'Report 2024.pdf (final)'],
    ['Report.2024 (final)', 'Report.2024 (final)'],
    ['Report (final)', 'Report (final)'],
    ['photo.jpg (1)', 'photo.jpg (1)'],
    ['Report (1; 2).pdf', 'Report (1; 2).pdf'],
    ['Report (1.pdf', 'Report (1.pdf'],
    ['smile :).txt', 'smile :).txt'],
  ])('%s is %s', (given, name) => {
    expect(parameter(`attachment; filename=${given}; size=1`, 'filename')).toBe(name);
    expect(parameter(`attachment; filename=${given}; size=1`, 'size')).toBe('1');
    expect(parameter(`image/png; name=${given}`, 'name')).toBe(name);
  });

  it('keeps those of the extended form', () => {
    expect(parameter(`attachment; filename*=utf-8''Report%20(1).pdf`, 'filename')).toBe('Report (1).pdf');
  });
});

it.each(['(', ')', '()', '(a) ', '\\(', '("', '(;', '";', ';a=(b)', '(a;b) '])(
  'needs linear time for many %j',
  (unit) => {
    expectCpuBelow(1000, () => readParameters(`text/plain; a=b${unit.repeat(1_000_000 / unit.length)}`));
  },
);
