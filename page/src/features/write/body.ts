/**
 * The two forms of a written text. HTML has one `div` for each line, as the large mail programs write it: the lines then stand close
 * together without any style. Plain text expresses the same with the signs that people use in mail.
 */
import type { JSONContent } from '@tiptap/core';

export interface Body {
  readonly text_body: string;
  /** null: written as plain text. Empty: formatted, but without text so far. */
  readonly html_body: string | null;
}

/**
 * The text of a formatted message: lists with dashes and numbers, tables in columns, quotes with `>`, link addresses after their words,
 * images by what they show.
 */
export function toPlainText(doc: JSONContent): string {
  return toLines(doc.content ?? [])
    .join('\n')
    .replaceAll('\u00a0', ' ');
}

/** The formatted form of a plain text, with its lines and its spaces. */
export function toHtml(text: string): string {
  const lines = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .split(/\r\n|\r|\n/);
  return text === '' ? '' : toMailHtml(lines.map((line) => `<div>${line}</div>`).join(''));
}

/** HTML that other programs show as it was written: empty lines keep their height, runs of spaces their width, and tables have single lines. */
export const toMailHtml = (html: string): string =>
  html
    .replaceAll('<table border="1"', '<table style="border-collapse:collapse" border="1"')
    .replaceAll('<div></div>', '<div><br></div>')
    .replaceAll('  ', ' &nbsp;');

function toLines(nodes: readonly JSONContent[]): string[] {
  return nodes.flatMap((node) => {
    const content = node.content ?? [];
    switch (node.type) {
      case 'bulletList':
        return content.flatMap((item) => indented(item, '- '));
      case 'orderedList': {
        const start: unknown = node.attrs?.['start'];
        const first = typeof start === 'number' ? start : 1;
        return content.flatMap((item, index) => indented(item, `${first + index}. `));
      }
      case 'blockquote':
        return toLines(content).map((line) => (line === '' ? '>' : `> ${line}`));
      case 'table':
        return tableLines(content);
      default:
        return inlineText(content).split('\n');
    }
  });
}

/** Wider lines are broken by mail programs, so the columns of a wider table are not aligned. */
const MAX_TABLE_CHARS = 78;
const BETWEEN = ' | ';

/** Columns below each other, a line below a row of headings. */
function tableLines(rows: readonly JSONContent[]): string[] {
  const grid = toGrid(rows);
  const widths = grid[0]?.map((_, column) =>
    Math.max(...grid.map((cells) => Math.max(0, ...(cells[column] ?? []).map(lengthOf)))),
  );
  if (widths === undefined) return [];
  const total = widths.reduce((sum, width) => sum + width + BETWEEN.length, -BETWEEN.length);
  const isAligned = total <= MAX_TABLE_CHARS;
  return grid.flatMap((cells, row) => {
    const height = Math.max(1, ...cells.map((lines) => lines.length));
    const lines = Array.from({ length: height }, (_, line) =>
      cells
        .map((cell, column) => {
          const said = cell[line] ?? '';
          return isAligned ? said + ' '.repeat((widths[column] ?? 0) - lengthOf(said)) : said;
        })
        .join(BETWEEN)
        .trimEnd(),
    );
    const isHead = (rows[row]?.content ?? []).every(({ type }) => type === 'tableHeader');
    return isHead && row === 0 && grid.length > 1 && isAligned ? [...lines, '-'.repeat(total)] : lines;
  });
}

const lengthOf = (text: string): number => [...text].length;

/** The lines of each cell, by row and column; a cell that covers several has its text in the first. */
function toGrid(rows: readonly JSONContent[]): string[][][] {
  const grid: string[][][] = rows.map(() => []);
  for (const [at, { content: cells = [] }] of rows.entries()) {
    let column = 0;
    for (const { content = [], attrs } of cells) {
      while (grid[at]?.[column] !== undefined) column += 1;
      const [wide, high] = [spanOf(attrs?.['colspan']), spanOf(attrs?.['rowspan'])];
      for (const [down, row] of grid.slice(at, at + high).entries())
        for (let right = 0; right < wide; right += 1)
          row[column + right] = down + right === 0 ? toLines(content) : [];
      column += wide;
    }
  }
  const width = Math.max(0, ...grid.map(({ length }) => length));
  return grid.map((row) => Array.from({ length: width }, (_, column) => row[column] ?? []));
}

const spanOf = (value: unknown): number => (typeof value === 'number' ? value : 1);

function indented({ content = [] }: JSONContent, sign: string): string[] {
  return toLines(content).map((line, index) => (index === 0 ? sign : ' '.repeat(sign.length)) + line);
}

function inlineText(nodes: readonly JSONContent[]): string {
  let text = '';
  let words = '';
  let link: string | null = null;
  const endLink = (): void => {
    if (link !== null && !isSaid(words, link)) text += ` <${link}>`;
    words = '';
  };
  for (const node of nodes) {
    const href = linkOf(node);
    if (href !== link) endLink();
    link = href;
    const said = saidBy(node);
    words += said;
    text += said;
  }
  endLink();
  return text;
}

function saidBy({ type, text = '', attrs }: JSONContent): string {
  if (type === 'hardBreak') return '\n';
  if (type !== 'image') return text;
  const alt: unknown = attrs?.['alt'];
  return typeof alt === 'string' && alt !== '' ? `[${alt}]` : '';
}

function linkOf({ marks = [] }: JSONContent): string | null {
  const href: unknown = marks.find(({ type }) => type === 'link')?.attrs?.['href'];
  return typeof href === 'string' ? href : null;
}

/** True if the words of a link name the address that it leads to. */
const isSaid = (words: string, href: string): boolean =>
  [words, `https://${words}`, `http://${words}`, `mailto:${words}`, `tel:${words}`].some(
    (one) => one === href || `${one}/` === href,
  );

/** The target of a typed link; null for text that is not a web, mail or telephone address. */
export function toLink(typed: string): string | null {
  const given = typed.trim();
  if (/^(?:mailto:|tel:)\S+$/i.test(given)) return given;
  if (/^[^\s@:/]+@[^\s@:/]+$/.test(given)) return `mailto:${given}`;
  const url = URL.parse(/^https?:\/\//i.test(given) ? given : `https://${given}`);
  return url !== null && url.hostname.includes('.') && !/\s/.test(given) ? url.href : null;
}
