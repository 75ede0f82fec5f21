/**
 * Tables in the terminal: as wide as the terminal, whatever characters they contain, and without any that could steer it. A file or another
 * program gets the same table, with nothing cut off.
 */
import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { printable, type Output } from './output.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null;
  /** True: texts of this column may be cut when the terminal is narrow. Other columns stay whole. */
  readonly shrinks?: boolean;
  readonly right?: boolean;
  /** True: the column is left out where the terminal is too narrow for all columns. */
  readonly spare?: boolean;
  readonly style?: (row: Row) => Style | null;
}

const GAP = '  ';
/** The least width of a column that shrinks. */
const MIN_COLUMNS = 8;
/** Longer texts are cut in a table: no reader would see the rest. In UTF-16 units. */
const MAX_CELL = 2000;
const NOTHING = '-';

export function paint(output: Pick<Output, 'colored'>, style: Style | null, text: string): string {
  if (style === null || !output.colored) return text;
  return styleText(style, text, { validateStream: false });
}

interface Measured<Row> {
  readonly column: Column<Row>;
  /** The texts of the column, without its title. */
  readonly cells: readonly string[];
  /** The width of the widest cell, or of the title. */
  readonly widest: number;
}

/** The lines of a table, its titles first. On a terminal that is too narrow for a table, each row takes several lines. */
export function formatColumns<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  output: Pick<Output, 'columns' | 'colored'>,
): readonly string[] {
  const measured = columns.map((column): Measured<Row> => {
    const cells = rows.map((row) => toCell(column.value(row)));
    return { column, cells, widest: Math.max(...[column.title, ...cells].map((text) => stringWidth(text))) };
  });
  const available = output.columns ?? Infinity;
  const shown = leaveOutSpare(measured, available);
  const widths = fit(shown, available);
  if (widths === null) return formatRecords(measured, rows, output);
  const join = (textOf: (one: Measured<Row>) => string, styleOf: (column: Column<Row>) => Style | null) =>
    shown
      .map((one, at) => {
        const width = widths[at] ?? 0;
        const text = cut(textOf(one), width);
        const space = ' '.repeat(Math.max(0, width - stringWidth(text)));
        const styled = paint(output, styleOf(one.column), text);
        if (one.column.right === true) return `${space}${styled}`;
        return at === shown.length - 1 ? styled : `${styled}${space}`;
      })
      .join(GAP);
  return [
    join(
      ({ column }) => column.title,
      () => 'dim',
    ),
    ...rows.map((row, at) =>
      join(
        ({ cells }) => cells[at] ?? '',
        ({ style }) => style?.(row) ?? null,
      ),
    ),
  ];
}

/** A line for each value that exists, and an empty line between two rows. */
function formatRecords<Row>(
  measured: readonly Measured<Row>[],
  rows: readonly Row[],
  output: Pick<Output, 'columns' | 'colored'>,
): readonly string[] {
  const width = Math.max(...measured.map(({ column }) => stringWidth(column.title)));
  const left = Math.max(1, (output.columns ?? Infinity) - width - GAP.length);
  return rows.flatMap((row, at) => [
    ...(at === 0 ? [] : ['']),
    ...measured.flatMap(({ column: { title, style, shrinks }, cells }) => {
      const text = cells[at] ?? NOTHING;
      if (text === NOTHING) return [];
      const label = paint(output, 'dim', title.padEnd(width));
      return [
        `${label}${GAP}${paint(output, style?.(row) ?? null, shrinks === true ? cut(text, left) : text)}`,
      ];
    }),
  ]);
}

function toCell(value: string | number | null): string {
  if (value === null || value === '') return NOTHING;
  return typeof value === 'number'
    ? String(value)
    : printable(value.slice(0, MAX_CELL).toWellFormed().replaceAll('\t', ' '));
}

const leastOf = <Row>({ column, widest }: Measured<Row>): number =>
  column.shrinks === true ? Math.min(widest, MIN_COLUMNS) : widest;

const gapsOf = (count: number): number => GAP.length * Math.max(0, count - 1);

/** Leaves out spare columns, the last ones first, until the rest can be made to fit. */
function leaveOutSpare<Row>(measured: readonly Measured<Row>[], available: number): readonly Measured<Row>[] {
  let shown = measured;
  for (;;) {
    const least = shown.reduce((sum, one) => sum + leastOf(one), gapsOf(shown.length));
    const spare = shown.findLast(({ column }) => column.spare === true);
    if (least <= available || spare === undefined) return shown;
    shown = shown.filter((one) => one !== spare);
  }
}

/** Narrows the widest column that shrinks until all fit; null when they can't fit. */
function fit<Row>(shown: readonly Measured<Row>[], available: number): readonly number[] | null {
  const widths = shown.map(({ widest }) => widest);
  let over = widths.reduce((sum, width) => sum + width, gapsOf(widths.length)) - available;
  while (over > 0) {
    const at = shown.reduce(
      (found, { column }, index) =>
        column.shrinks === true && (widths[index] ?? 0) > (widths[found] ?? MIN_COLUMNS) ? index : found,
      -1,
    );
    if (at < 0) return null;
    widths[at] = (widths[at] ?? 0) - 1;
    over -= 1;
  }
  return widths;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The beginning of a text, at most so wide; a text that was cut ends with an ellipsis. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    const more = stringWidth(segment);
    if (used + more > width - 1) break;
    kept += segment;
    used += more;
  }
  return `${kept}…`;
}
