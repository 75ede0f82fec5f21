/** How HTML of other programs is understood. The samples are what these programs put on the clipboard. */
import { describe, expect, it } from 'vitest';
import {
  numberOf,
  styleValue,
  withoutStyles,
  wordEntryOf,
} from '../../page/src/features/write/pasted-styles.ts';

const LIST = 'margin-left:36.0pt;mso-add-space:auto;text-indent:-18.0pt;mso-list:l0 level2 lfo1';

describe('a style of another program', () => {
  it('has the value of its own property, not of one that ends like it', () => {
    expect(styleValue('mso-bidi-font-weight:normal', 'font-weight')).toBe('');
    expect(styleValue('Font-Weight : BOLD ; color:red', 'font-weight')).toBe('bold');
    expect(styleValue('font-weight:400;font-weight:700', 'font-weight')).toBe('700');
  });

  it('makes a paragraph an entry of a list with a level, as Word writes it', () => {
    expect(wordEntryOf(LIST)).toEqual({ list: 'l0', level: 2 });
    expect(wordEntryOf('mso-list:none')).toBeNull();
    expect(wordEntryOf('mso-list:Ignore')).toBeNull();
    expect(wordEntryOf('')).toBeNull();
  });

  it('is readable and without effect, and so is a handler', () => {
    expect(
      withoutStyles('<p class=a style="color:red" onclick="x()">a style="b"</p><style>p{}</style>'),
    ).toBe('<p class=a data-style="color:red" data-refused="x()">a style="b"</p><title>p{}</title>');
  });
});

describe('the sign before an entry of a list', () => {
  it.each([
    ['1.\u00a0\u00a0', 1],
    ['12)', 12],
    ['a.', 1],
    ['(b)', 1],
    ['iv.', 1],
    ['\u00b7\u00a0\u00a0', null],
    ['o\u00a0', null],
    ['\u00a7', null],
    ['-', null],
    ['', null],
  ])('%j is number %j', (marker, number) => {
    expect(numberOf(marker)).toBe(number);
  });
});
