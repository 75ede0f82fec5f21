/**
 * The HTML of an email for a forward: as it was written, byte for byte, without what runs or sends something by itself: scripts,
 * pages within it, attributes `on…`, addresses that run something, refreshes, and the tags of forms. What else it loads is for the
 * reader's program to decide, as it was when the email came.
 *
 * It is never shown by this service. Programs differ in whether `noscript` is markup, so it is read both ways; what is cut may
 * bring other markup to life, so it is read again until nothing is cut.
 */
import type { DefaultTreeAdapterTypes, Token } from 'parse5';
import {
  HtmlLimitError,
  isElement,
  isText,
  parseDocument,
  rootOf,
  type HtmlElement,
  type HtmlNode,
} from './parse-html.ts';
import { MAX_ROUNDS, MAX_SAFE_INPUT_CHARS } from './limits.ts';

export interface ForwardHtml {
  readonly html: string;
  /** Where the words of the person who forwards it are inserted: at the beginning of its body. */
  readonly start: number;
}

/** Left out with all their content. */
const ACTIVE = new Set(
  'script iframe frame object embed applet portal fencedframe bgsound handler listener set animate animatemotion animatetransform'.split(
    ' ',
  ),
);

/** Addresses, of which none may run anything. */
const ADDRESSES = new Set(
  'href src data base background poster cite longdesc lowsrc dynsrc codebase classid code archive manifest profile usemap values from to by'.split(
    ' ',
  ),
);

/** Left out whatever they contain. */
const NEVER = new Set(['srcdoc', 'formaction', 'ping', 'action']);

/** The value of `meta http-equiv` that does something. */
const REFRESH = /refresh|cookie/i;

/** The schemes that run something; browsers skip white space and controls in them. */
const RUNS = /^(?:javascript|vbscript|livescript|mocha|data):/i;
const IGNORED = /[\u0000-\u0020\u007f-\u00a0\u00ad\u200b-\u200f\u2028-\u202f\ufeff]+/g;

/** What old programs run in styles. */
const STYLE_RUNS = /expression\s*\(|(?:java|vb|live)script:|behaviou?r\s*:|-moz-binding/i;

/** Comments that some program reads as markup, and that have something active in them. */
const COMMENT_RUNS =
  /<[\s/]{0,20}(?:script|iframe|frame|object|embed|applet|form|meta|link)\b|[\s"'/]on[a-z]{3,30}\s{0,20}=|(?:java|vb|live)script:/i;

/** Throws HtmlLimitError when the HTML would cost too much, or when it does not become stable. */
export function withoutActive(html: string): ForwardHtml {
  if (html.length > MAX_SAFE_INPUT_CHARS) throw new HtmlLimitError('too long to be forwarded as it is');
  let rest = html.replaceAll('\0', '');
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const document = parseDocument(rest, { sourceCodeLocationInfo: true });
    const cuts = cutsIn(document);
    if (NOSCRIPT.test(rest))
      cuts.push(...cutsIn(parseDocument(rest, { scriptingEnabled: true, sourceCodeLocationInfo: true })));
    if (cuts.length === 0) return { html: rest, start: startOf(rest, document) };
    rest = withoutRanges(rest, cuts);
  }
  throw new HtmlLimitError(`still has active content after ${MAX_ROUNDS} cuts`);
}

/** The one element that is read otherwise where scripts run. */
const NOSCRIPT = /<noscript/i;

type Document = ReturnType<typeof parseDocument>;
type Range = readonly [from: number, to: number];

function cutsIn({ childNodes }: Document): Range[] {
  const cuts: Range[] = [];
  const walk = (node: HtmlNode): void => {
    if (node.nodeName === '#comment') {
      const { data, sourceCodeLocation: at } = node as DefaultTreeAdapterTypes.CommentNode;
      if (at && COMMENT_RUNS.test(data)) cuts.push([at.startOffset, at.endOffset]);
    }
    if (!isElement(node)) return;
    const at = node.sourceCodeLocation;
    if (isActive(node)) {
      if (at) cuts.push([at.startOffset, endOf(node)]);
      return;
    }
    if (at && node.tagName === 'form') {
      for (const tag of [at.startTag, at.endTag]) if (tag) cuts.push([tag.startOffset, tag.endOffset]);
    } else if (at) {
      for (const attribute of node.attrs) {
        if (isActiveAttribute(node.tagName, attribute)) cuts.push(rangeOf(attribute, at));
      }
    }
    for (const child of node.childNodes) walk(child);
    if (node.tagName === 'template' && 'content' in node) {
      for (const child of (node as DefaultTreeAdapterTypes.Template).content.childNodes) walk(child);
    }
  };
  for (const node of childNodes) walk(node);
  return cuts;
}

function isActive(element: HtmlElement): boolean {
  const tag = element.tagName.toLowerCase().replace(/^.*:/, '');
  if (ACTIVE.has(tag)) return true;
  const valueOf = (name: string): string => element.attrs.find((one) => one.name === name)?.value ?? '';
  if (tag === 'meta') return REFRESH.test(valueOf('http-equiv'));
  if (tag === 'link')
    return !/^\s*(?:stylesheet|(?:shortcut )?icon|apple-touch-icon)\s*$/i.test(valueOf('rel'));
  return tag === 'style' && element.childNodes.some((text) => isText(text) && styleRuns(text.value));
}

function isActiveAttribute(tag: string, { name: given, value }: Token.Attribute): boolean {
  const name = given.toLowerCase();
  if (name.startsWith('on') || NEVER.has(name)) return true;
  if (name === 'style') return styleRuns(value);
  if (!ADDRESSES.has(name.replace(/^.*:/, ''))) return false;
  const isRunning = value.split(';').some((one) => RUNS.test(one.replace(IGNORED, '')));
  // A browser runs nothing in an image.
  return isRunning && !(tag === 'img' && name === 'src' && /^\s*data:image\//i.test(value));
}

/** Comments and escapes hide a word from a search, and not from the program that runs it. */
function styleRuns(css: string): boolean {
  const plain = css
    .split('/*')
    .map((part, index) => (index === 0 ? part : part.slice(part.indexOf('*/') + 2)))
    .join('')
    .replace(/\\([0-9a-f]{1,6})\s?/gi, (_, hex: string) => fromCode(Number.parseInt(hex, 16)))
    .replaceAll('\\', '');
  return STYLE_RUNS.test(css) || STYLE_RUNS.test(plain);
}

const fromCode = (code: number): string => (code > 0x10_ffff ? '' : String.fromCodePoint(code));

/** An element that never ends, as far as its own text: parse5 has no end of it. */
function endOf({ sourceCodeLocation: at, childNodes }: HtmlElement): number {
  if (at?.endTag) return at.endOffset;
  const ends = childNodes.filter(isText).map((text) => text.sourceCodeLocation?.endOffset ?? 0);
  return Math.max(at?.endOffset ?? 0, at?.startTag?.endOffset ?? 0, ...ends);
}

/** The attribute; the whole start tag, where its place is not known. */
function rangeOf(
  { name, prefix }: Token.Attribute,
  at: NonNullable<HtmlElement['sourceCodeLocation']>,
): Range {
  const known =
    at.attrs?.[prefix === undefined || prefix === '' ? name : `${prefix}:${name}`] ??
    at.attrs?.[name.toLowerCase()];
  const { startOffset, endOffset } = known ?? at.startTag ?? at;
  return [startOffset, endOffset];
}

function withoutRanges(html: string, cuts: readonly Range[]): string {
  const kept: string[] = [];
  let from = 0;
  for (const [start, end] of cuts.toSorted(([a], [b]) => a - b)) {
    if (start > from) kept.push(html.slice(from, start));
    from = Math.max(from, end);
  }
  kept.push(html.slice(from));
  return kept.join('');
}

/** Behind the tags that are in front of a body. */
function startOf(html: string, document: Document): number {
  const root = rootOf(document);
  const placeOf = (tag: string) =>
    root.childNodes.filter(isElement).find(({ tagName }) => tagName === tag)?.sourceCodeLocation;
  return (
    placeOf('body')?.startTag?.endOffset ??
    placeOf('head')?.endTag?.endOffset ??
    root.sourceCodeLocation?.startTag?.endOffset ??
    /^\s*<!doctype[^>]*>/i.exec(html)?.[0].length ??
    0
  );
}
