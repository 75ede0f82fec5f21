import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { createOutput } from './output.ts';
import { cut, formatColumns, type Column } from './table.ts';

interface Row {
  readonly id: string;
  readonly text: string;
  readonly count: number | null;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'COUNT', value: ({ count }) => count, right: true, spare: true },
  { title: 'TEXT', value: ({ text }) => text, shrinks: true, style: () => 'red' },
];
const file = { columns: null, colored: false };
const terminal = (columns: number) => ({ columns, colored: false });

describe('formatColumns', () => {
  it('cuts nothing off what goes to a file', () => {
    const text = 'x'.repeat(300);
    expect(formatColumns(COLUMNS, [{ id: 'a', count: 12, text }], file)).toEqual([
      'ID  COUNT  TEXT',
      `a      12  ${text}`,
    ]);
  });

  it('takes the columns that characters take, not how many they are', () => {
    const rows = [
      { id: '日本', count: 1, text: '日本語の件名' },
      { id: 'ab', count: 2, text: 'e\u0301te\u0301 👩‍👩‍👧 zwei' },
    ];
    const lines = formatColumns(COLUMNS, rows, terminal(22));
    expect(lines).toEqual([
      'ID    COUNT  TEXT',
      '日本      1  日本語の…',
      'ab        2  e\u0301te\u0301 👩‍👩‍👧 z…',
    ]);
    expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(22);
  });

  it('shows what could steer a terminal, and nothing is left to steer it', () => {
    const text = 'a\u001b[2J\u001b]0;x\u0007\u009b31m\r\n\tb\u202egpj\u0000\ud800';
    const [, line] = formatColumns(COLUMNS, [{ id: '1', count: null, text }], file);
    expect(line).toBe(
      '1       -  a\\u001b[2J\\u001b]0;x\\u0007\\u009b31m\\u000d\\u000a b\\u202egpj\\u0000\ufffd',
    );
  });

  it('leaves out what is spare, then makes lines of each row', () => {
    const rows = [
      { id: 'abcdefgh', count: 1, text: 'a long text' },
      { id: '2', count: null, text: '' },
    ];
    expect(formatColumns(COLUMNS, rows, terminal(18))).toEqual([
      'ID        TEXT',
      'abcdefgh  a long …',
      '2         -',
    ]);
    expect(formatColumns(COLUMNS, rows, terminal(12))).toEqual([
      'ID     abcdefgh',
      'COUNT  1',
      'TEXT   a lo…',
      '',
      'ID     2',
    ]);
  });

  it('has colours in a terminal that wants them', () => {
    const colored = (env: object, isTTY = true) =>
      formatColumns(
        COLUMNS,
        [{ id: '1', count: 1, text: 'x' }],
        createOutput({ write: () => true, isTTY, columns: 80 }, { write: () => true }, env),
      )[1]?.includes('\u001b[31mx\u001b[39m');
    expect(colored({})).toBe(true);
    expect(colored({ NO_COLOR: '1' })).toBe(false);
    expect(colored({ NO_COLOR: '' })).toBe(true);
    expect(colored({ TERM: 'dumb' })).toBe(false);
    expect(colored({}, false)).toBe(false);
  });
});

describe('cut', () => {
  it('never makes a text wider than it may be', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        expect(stringWidth(cut(text, width))).toBeLessThanOrEqual(width);
      }),
    );
  });
});
