/**
 * The formatters of html-to-text.ts for lists, quotes, links and rules. The library's own multiply the work: each level of
 * a quote or list is written before each of its lines, and each link within links processes each of its words. Here, marks
 * use up a budget, so that neither the text nor the work outgrows the HTML.
 */
import type { BlockTextBuilder, DomNode, Formatter, Walk } from 'html-to-text';
import { trimEnds } from '../../trim-ends.ts';
import { MAX_LIST_NUMBER } from '../limits.ts';

/** The state of one rendering; the library's `metadata`. */
export interface Rendering {
  /** Characters that marks before lines, and rules, may still take. */
  marksLeft: number;
  /** `marksLeft` was not enough; further marks were left out. */
  isSimplified: boolean;
  isInLink: boolean;
}

type Builder = BlockTextBuilder<Rendering>;

/** The length of a rule, `<hr>`. */
const RULE_CHARS = 40;
const BULLET = ' * ';

export const HTML_FORMATTERS: Readonly<Record<string, Formatter<Rendering>>> = {
  altText: (element, _walk, builder) => builder.addInline(element.attribs?.['alt'] ?? ''),
  boundedLink: formatLink,
  boundedQuote: (element, walk, builder) => {
    builder.openBlock({ leadingLineBreaks: 2, reservedLineLength: 2 });
    walk(element.children ?? [], builder);
    builder.closeBlock({
      trailingLineBreaks: 2,
      blockTransform: (text) => withMarks(trimEnds(text, isLineBreak), '> ', '> ', builder.metadata),
    });
  },
  boundedRule: (_element, _walk, builder) => {
    builder.openBlock({ leadingLineBreaks: 2 });
    if (takeMarks(RULE_CHARS, builder.metadata)) builder.addInline('-'.repeat(RULE_CHARS));
    builder.closeBlock({ trailingLineBreaks: 2 });
  },
  bullets: (element, walk, builder) => formatList(element, walk, builder, () => BULLET),
  cell: (element, walk, builder) => {
    walk(element.children ?? [], builder);
    builder.addInline(' ');
  },
  numbers: (element, walk, builder) => {
    const { start, type } = element.attribs ?? {};
    let number = toListNumber(start);
    formatList(element, walk, builder, () => ` ${formatNumber(number++, type)}. `);
  },
};

/** `text <address>`; only the address if there is no text, only the text if both are the same. */
function formatLink(element: DomNode, walk: Walk<Rendering>, builder: Builder): void {
  const { metadata } = builder;
  const given = (element.attribs?.['href'] ?? '').replace(/^mailto:/, '');
  const href = given.startsWith('#') ? '' : given;
  // HTML forbids links within links; the words of an inner one are not compared with the address of the outer one again.
  if (href === '' || metadata.isInLink) {
    walk(element.children ?? [], builder);
    if (href !== '') builder.addInline(` <${href}>`, { noWordTransform: true });
    return;
  }
  let text = '';
  metadata.isInLink = true;
  builder.pushWordTransform((word) => {
    if (text.length <= href.length) text += word;
    return word;
  });
  walk(element.children ?? [], builder);
  builder.popWordTransform();
  metadata.isInLink = false;
  if (text !== href) builder.addInline(text === '' ? href : ` <${href}>`, { noWordTransform: true });
}

function formatList(element: DomNode, walk: Walk<Rendering>, builder: Builder, nextMark: () => string): void {
  const isNested = element.parent?.name === 'li';
  const items = (element.children ?? [])
    .filter(({ type, data = '' }) => type !== 'text' || data.trim() !== '')
    .map((node) => {
      const mark = node.name === 'li' ? nextMark() : '';
      return { node, mark: isNested ? mark.trimStart() : mark };
    });
  if (items.length === 0) return;
  let width = 0;
  for (const { mark } of items) width = Math.max(width, mark.length);
  builder.openList({ interRowLineBreaks: 1, leadingLineBreaks: isNested ? 1 : 2 });
  for (const { node, mark } of items) {
    builder.openBlock({ leadingLineBreaks: 1, reservedLineLength: width });
    walk([node], builder);
    builder.closeBlock({
      trailingLineBreaks: 1,
      blockTransform: (text) => withMarks(text, mark.padEnd(width), ' '.repeat(width), builder.metadata),
    });
  }
  builder.closeList({ trailingLineBreaks: isNested ? 1 : 2 });
}

/** Puts `first` before the first line and `mark` before the others, both of one length; or none, beyond the budget. */
function withMarks(text: string, first: string, mark: string, rendering: Rendering): string {
  if (mark === '') return text;
  let chars = mark.length;
  for (
    let at = text.indexOf('\n');
    at !== -1 && chars <= rendering.marksLeft;
    at = text.indexOf('\n', at + 1)
  ) {
    chars += mark.length;
  }
  return takeMarks(chars, rendering) ? first + text.replaceAll('\n', `\n${mark}`) : text;
}

/** Returns true if there is room; once there is none, the answer stays false, so that later marks are not counted in vain. */
function takeMarks(chars: number, rendering: Rendering): boolean {
  if (chars > rendering.marksLeft) {
    rendering.isSimplified = true;
    rendering.marksLeft = 0;
    return false;
  }
  rendering.marksLeft -= chars;
  return true;
}

function isLineBreak(character: string): boolean {
  return character === '\n';
}

function toListNumber(text: string | undefined): number {
  const number = Number(text ?? 1);
  return Number.isInteger(number) && Math.abs(number) <= MAX_LIST_NUMBER ? number : 1;
}

/** `type` as in HTML: letters, Roman numerals, else digits. */
function formatNumber(number: number, type: string | undefined): string {
  if (number >= 1 && type?.toLowerCase() === 'a') return inCaseOf(type, toLetters(number));
  if (number >= 1 && number < 4000 && type?.toLowerCase() === 'i') return inCaseOf(type, toRoman(number));
  return String(number);
}

function inCaseOf(type: string, text: string): string {
  return type === type.toUpperCase() ? text.toUpperCase() : text;
}

/** `a`, …, `z`, `aa`, … */
function toLetters(number: number): string {
  let letters = '';
  for (let left = number; left > 0; left = Math.floor((left - 1) / 26)) {
    letters = String.fromCharCode(97 + ((left - 1) % 26)) + letters;
  }
  return letters;
}

const ROMAN: readonly (readonly [value: number, text: string])[] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
];

/** From 1 to 3999. */
function toRoman(number: number): string {
  let left = number;
  let text = '';
  for (const [value, letters] of ROMAN) {
    text += letters.repeat(Math.floor(left / value));
    left %= value;
  }
  return text;
}
