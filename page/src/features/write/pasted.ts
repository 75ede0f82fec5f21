/** The elements of HTML from other programs, as the editor is to read them. */
import { numberOf, styleValue, wordEntryOf } from './pasted-styles.ts';

const styleOf = (element: HTMLElement, property: string): string =>
  styleValue(element.dataset['style'] ?? '', property);

/** A rule for text that another program formatted with a style, as Google Docs and Word do, of a cell or a line too. */
export const byStyle = (property: string, value: RegExp) => ({
  tag: '[data-style]',
  getAttrs: (element: HTMLElement) => (value.test(styleOf(element, property)) ? {} : (false as const)),
  // One element may have several such styles, and be a line or a cell besides.
  consuming: false,
});

/** Google Docs wraps everything that is copied in a `b` that is not bold. */
export const isReallyBold = (element: HTMLElement) =>
  /^(?:normal|400)$/.test(styleOf(element, 'font-weight')) ? (false as const) : {};

/** A larger table would take the browser seconds; its rows become lines. */
const MAX_CELLS = 3000;

/** Turns what programs write in their own manner into lists, tables and lines of HTML. */
export function tidy(body: HTMLElement): void {
  for (const element of body.querySelectorAll<HTMLElement>('[data-style]'))
    if (styleOf(element, 'display') === 'none' || styleOf(element, 'mso-hide') === 'all') element.remove();
  joinWordEntries(body);
  nestLists(body);
  // The inner ones first.
  for (const table of [...body.querySelectorAll('table')].reverse()) tidyTable(table);
}

/** Word writes an entry of a list as a paragraph, with its bullet or number as text. */
function joinWordEntries(body: HTMLElement): void {
  /** The lists that are open, the outermost first. */
  let open: { readonly list: HTMLElement; readonly level: number }[] = [];
  let last: Element | null = null;
  for (const paragraph of body.querySelectorAll<HTMLElement>(
    'p[data-style], div[data-style], h1, h2, h3, h4',
  )) {
    const entry = wordEntryOf(paragraph.dataset['style'] ?? '');
    if (entry === null) continue;
    const marker = [...paragraph.querySelectorAll<HTMLElement>('[data-style]')].find(
      (part) => styleOf(part, 'mso-list') === 'ignore',
    );
    const number = numberOf(marker?.textContent ?? '');
    marker?.remove();
    const item = document.createElement('li');
    item.append(...paragraph.childNodes);
    if (last === null || paragraph.previousElementSibling !== last) open = [];
    while ((open.at(-1)?.level ?? 0) > entry.level) open.pop();
    const tag = number === null ? 'UL' : 'OL';
    const top = open.at(-1);
    if (top !== undefined && top.level === entry.level && top.list.tagName === tag) top.list.append(item);
    else {
      if (top?.level === entry.level) open.pop();
      const list = document.createElement(tag);
      if (number !== null && number > 1) list.setAttribute('start', String(number));
      list.append(item);
      const above = open.at(-1)?.list.lastElementChild;
      if (above) above.append(list);
      else paragraph.before(list);
      open.push({ list, level: entry.level });
    }
    paragraph.remove();
    last = open[0]?.list ?? null;
  }
}

/** Google Docs and Outlook put a list of the next level beside the entry that it belongs to; Word for the web each entry into a list of its own. */
function nestLists(body: HTMLElement): void {
  for (const box of body.querySelectorAll('.ListContainerWrapper')) box.replaceWith(...box.childNodes);
  for (const list of body.querySelectorAll('ul, ol')) {
    const before = list.previousElementSibling;
    if (list.parentElement?.matches('ul, ol') === true) {
      if (before?.tagName === 'LI') before.append(list);
      else {
        const item = document.createElement('li');
        list.replaceWith(item);
        item.append(list);
      }
    } else if (before?.tagName === list.tagName && list.classList.length > 0 && continues(before, list)) {
      before.append(...list.childNodes);
      list.remove();
    }
  }
}

const continues = (before: Element, list: Element): boolean =>
  list.tagName === 'UL' ||
  Number(list.getAttribute('start') ?? 1) ===
    Number(before.getAttribute('start') ?? 1) + before.children.length;

function tidyTable(table: HTMLTableElement): void {
  const rows = [...table.rows];
  if (table.caption !== null) {
    const line = document.createElement('div');
    line.append(...table.caption.childNodes);
    table.before(line);
    table.caption.remove();
  }
  const isLayout = /^(?:presentation|none)$/.test(table.getAttribute('role') ?? '');
  const isColumn = rows.every(({ cells }) => cells.length < 2);
  if (isLayout || isColumn) table.replaceWith(...rows.flatMap(({ cells }) => [...cells].map(lineOf)));
  else if (rows.reduce((count, { cells }) => count + cells.length, 0) > MAX_CELLS)
    table.replaceWith(...rows.map(rowAsLine));
}

function lineOf(cell: HTMLElement): HTMLElement {
  const line = document.createElement('div');
  line.append(...cell.childNodes);
  return line;
}

function rowAsLine({ cells }: HTMLTableRowElement): HTMLElement {
  const line = document.createElement('div');
  line.textContent = [...cells].map(({ textContent }) => textContent.trim()).join(' | ');
  return line;
}
