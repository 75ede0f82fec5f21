/**
 * Drops the tags of HTML in one pass, without a tree: for HTML that is too large or too deep for the library behind
 * html-to-text.ts. Text, links and alternative texts stay; tables and lists come out plainer, and a `>` within an
 * attribute ends its tag.
 */

import { decodeHTML, decodeHTMLAttribute } from 'entities';

/** Elements whose content is not part of the mail's text. */
const SKIPPED = new Set(['title', 'style', 'script', 'template', 'xml', 'noscript', 'svg', 'math', 'iframe']);

/** Elements that start and end a line. */
const BLOCKS = new Set(
  (
    'address article aside body caption center dd div dl dt fieldset figcaption figure footer form header hr li ' +
    'main nav ol option section table tr ul'
  ).split(' '),
);

/** Elements with an empty line around them; also `br`, which has no content. */
const BREAKS = new Set('blockquote br h1 h2 h3 h4 h5 h6 p pre'.split(' '));

const CELLS = new Set(['td', 'th']);
/** End tags of SKIPPED. Searched in the HTML itself: offsets differ in a lower-case copy (`İ` becomes two characters). */
const ENDS = new Map(Array.from(SKIPPED, (name) => [name, new RegExp(`</${name}`, 'gi')]));
const TAG_NAME = /^\/?([a-z][a-z0-9]*)/i;
const HREF = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;
const ALT = /\salt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;

/** The text of HTML with line breaks for blocks. Takes time in proportion to the length for any input. */
export function flattenHtml(html: string): string {
  const text: string[] = [];
  const add = (piece: string): void => {
    const last = text.at(-1)?.at(-1) ?? '\n';
    // White space adds nothing after white space, and a block's border nothing at the start of a line.
    if (piece === '' || (piece === ' ' && /\s/.test(last)) || (piece === '\n' && last === '\n')) return;
    text.push(piece);
  };
  let link = '';
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at);
    add(decodeHTML(collapse(html.slice(at, open === -1 ? html.length : open))));
    if (open === -1) break;
    const name = TAG_NAME.exec(html.slice(open + 1, open + 20))?.[1]?.toLowerCase() ?? '';
    const isMarkup = name !== '' || /[!/?]/.test(html.charAt(open + 1));
    if (!isMarkup) {
      text.push('<');
      at = open + 1;
      continue;
    }
    const isComment = html.startsWith('<!--', open);
    const end = isComment ? html.indexOf('-->', open + 4) : html.indexOf('>', open);
    // A tag or comment that is never closed can't be distinguished from text; browsers drop it as well.
    if (end === -1) break;
    at = end + (isComment ? 3 : 1);
    if (name === '') continue;

    const tag = html.slice(open, end);
    const closing = html.charAt(open + 1) === '/';
    const contentEnd = closing ? undefined : ENDS.get(name);
    if (contentEnd !== undefined) {
      contentEnd.lastIndex = at;
      const end = contentEnd.exec(html);
      if (end === null) break;
      at = end.index;
    } else if (BREAKS.has(name)) {
      text.push('\n');
    } else if (BLOCKS.has(name)) {
      add('\n');
      if (name === 'li' && !closing) text.push(' * ');
    } else if (CELLS.has(name)) {
      add(' ');
    } else if (name === 'img') {
      add(collapse(attribute(ALT, tag)));
    } else if (name === 'a') {
      if (link !== '') text.push(` <${link}>`);
      link = closing ? '' : shownLink(attribute(HREF, tag));
    }
  }
  return text.join('');
}

function attribute(pattern: RegExp, tag: string): string {
  const [, doubleQuoted, singleQuoted, bare] = pattern.exec(tag) ?? [];
  return decodeHTMLAttribute(doubleQuoted ?? singleQuoted ?? bare ?? '');
}

function shownLink(href: string): string {
  return href.startsWith('#') ? '' : collapse(href.trim());
}

function collapse(text: string): string {
  return text.replace(/[ \t\r\n\f]+/g, ' ');
}
