/**
 * Makes the HTML of an email safe to show, even when it is hostile. parse5 reads it as browsers do; a new tree is built from
 * the allowed content, and hast-util-sanitize makes the final check. No element comes out whose content is parsed by rules of
 * its own (`style`, `noscript`, `svg`, …): HTML that changes its meaning when it is parsed again needs one. Parsed and made
 * safe again, the result stays the same; that is checked each time.
 *
 * The result is one `div`, and nothing in it can leave or cover it. Show it in a frame nevertheless.
 */
import type { Element, ElementContent, Root } from 'hast';
import { sanitize, type Schema } from 'hast-util-sanitize';
import { toHtml } from 'hast-util-to-html';
import { readLinkText, type LinkBudget } from './link-text.ts';
import {
  MAX_LINK_HOSTS,
  MAX_LINK_TEXT_CHARS,
  MAX_ROUNDS,
  MAX_SAFE_INPUT_CHARS,
  MAX_SAFE_OUTPUT_CHARS,
} from './limits.ts';
import {
  HtmlLimitError,
  isElement,
  isText,
  parseHtml,
  type HtmlElement,
  type HtmlNode,
} from './parse-html.ts';
import { DROPPED, nothingRemoved, UNWRAPPED, type Removed, type RemovedKind } from './removed.ts';
import { contentIdsOf, embeddedImage, isRemote, readLink, remoteImage } from './safe-links.ts';
import { otherSiteShown, toTarget, type LinkTarget } from './shown-sites.ts';
import { BOX, BOX_MARK, BOX_MARK_NAME } from './text-as-html.ts';
import { addStyles, writeStyles, type StyleContext, type Styles } from './safe-styles.ts';
import { ALLOWED_ATTRIBUTES, ALLOWED_ELEMENTS, safeAttribute, toProperty } from './safe-values.ts';
import { StyleSheets } from './style-sheets.ts';

export interface SanitizeOptions {
  /** Keeps images that are fetched by `http:` and `https:`. */
  readonly allowRemote: boolean;
  /** The addresses of the email's images, by Content-ID. */
  readonly images: ReadonlyMap<string, string>;
  /** Replaces an image that is left out by its alternative text, for programs that draw a broken image. Default: false. */
  readonly altTexts?: boolean;
}

export interface SafeHtml {
  readonly html: string;
  readonly removed: Removed;
  /** Links whose text shows, or may show, a site or address other than their target. */
  readonly deceptiveLinks: number;
  /** The HTML was too long, and its end was left out. */
  readonly isCut: boolean;
}

const SCHEMA: Schema = {
  tagNames: [...ALLOWED_ELEMENTS],
  attributes: ALLOWED_ATTRIBUTES,
  // `cid` only as the address of an image of the email.
  protocols: { href: ['http', 'https', 'mailto', 'tel'], src: ['http', 'https', 'data', 'cid'] },
  strip: Object.keys(DROPPED),
  ancestors: {},
  required: {},
  clobber: [],
  clobberPrefix: '',
  allowComments: false,
  allowDoctypes: false,
};

/** Throws HtmlLimitError when the HTML would cost too much, or when its result does not become stable. */
export function sanitizeHtml(html: string, options: SanitizeOptions): SafeHtml {
  const isCut = html.length > MAX_SAFE_INPUT_CHARS;
  const first = new Sanitizer(options).run(isCut ? html.slice(0, MAX_SAFE_INPUT_CHARS) : html);
  let result = first.html;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const again = new Sanitizer(options).run(result).html;
    if (again === result) return { ...first, html: result, isCut };
    result = again;
  }
  throw new HtmlLimitError(`still changes when it is read ${MAX_ROUNDS} times`);
}

class Sanitizer {
  readonly #options: SanitizeOptions;
  readonly #removed = nothingRemoved();
  readonly #sheets = new StyleSheets();
  /** Addresses that this service made. */
  readonly #own: ReadonlySet<string>;
  readonly #styleContext: StyleContext;
  #deceptiveLinks = 0;
  #charsLeft = MAX_SAFE_OUTPUT_CHARS;
  readonly #linkBudget: LinkBudget = { chars: MAX_LINK_TEXT_CHARS, hosts: MAX_LINK_HOSTS };

  constructor(options: SanitizeOptions) {
    this.#options = options;
    this.#own = new Set(options.images.values());
    this.#styleContext = {
      toImage: (address) => this.#ownImage(address) ?? embeddedImage(address),
      isRemote,
      onRemoved: (isRemoteToo) => this.#count(isRemoteToo ? 'remote_content' : 'styles'),
    };
  }

  run(html: string): Pick<SafeHtml, 'html' | 'removed' | 'deceptiveLinks'> {
    const root = parseHtml(html);
    this.#readSheets(root);
    let body: HtmlElement | null = null;
    for (const child of root.childNodes) {
      if (!isElement(child)) continue;
      if (child.tagName === 'body') body = child;
      else this.#countDropped(child);
    }
    const safe = sanitize(this.#toBox(body), SCHEMA);
    const written = toHtml(safe);
    return { html: written, removed: this.#removed, deceptiveLinks: this.#deceptiveLinks };
  }

  #count(kind: RemovedKind): void {
    this.#removed[kind]++;
  }

  /** Runs before the elements are read, since some sheets are in the middle of a body. */
  #readSheets(node: HtmlElement): void {
    for (const child of node.childNodes) {
      if (!isElement(child)) continue;
      if (child.tagName === 'style' && child.namespaceURI === node.namespaceURI) {
        const css = child.childNodes.map((text) => (isText(text) ? text.value : '')).join('');
        this.#sheets.add(css, () => this.#count('remote_content'));
      } else this.#readSheets(child);
    }
  }

  #toBox(body: HtmlElement | null): Root {
    const styles: Styles = new Map();
    const properties: Element['properties'] = { [BOX_MARK]: '1' };
    let content: ElementContent[] = [];
    if (body !== null) {
      const inner = boxOf(body) ?? body;
      if (inner === body) this.#countHandlers(body);
      for (const [name, property] of [
        ['bgcolor', 'background-color'],
        ['text', 'color'],
      ] as const) {
        const color = safeAttribute('body', 'bgcolor', attributeOf(inner, name) ?? '');
        if (color !== null) styles.set(property, color);
      }
      this.#readStyles(inner, styles);
      const background = attributeOf(inner, 'background');
      if (background !== null) this.#countBackground(background);
      content = this.#toContent(inner.childNodes);
    }
    // The box keeps its own form: in another one it would not contain its content.
    const own = new Map([...styles].filter(([property]) => OF_BOX.test(property)));
    const more = writeStyles(own);
    properties.style = more === '' ? BOX : `${BOX};${more}`;
    return { type: 'root', children: [{ type: 'element', tagName: 'div', properties, children: content }] };
  }

  #toContent(nodes: readonly HtmlNode[]): ElementContent[] {
    const content: ElementContent[] = [];
    for (const node of nodes) {
      if (isText(node)) {
        this.#spend(node.value.length);
        content.push({ type: 'text', value: node.value.replaceAll('\0', '').toWellFormed() });
      } else if (isElement(node)) {
        for (const one of this.#toElements(node)) content.push(one);
      }
    }
    return content;
  }

  /** Returns the element itself, its content, or nothing. */
  #toElements(element: HtmlElement): ElementContent[] {
    const tag = element.tagName;
    if (Object.hasOwn(DROPPED, tag) || element.namespaceURI !== HTML) {
      this.#countDropped(element);
      return [];
    }
    this.#countHandlers(element);
    const unwrapped = Object.hasOwn(UNWRAPPED, tag) ? UNWRAPPED[tag] : undefined;
    if (unwrapped !== undefined) this.#count(unwrapped);
    const background = attributeOf(element, 'background');
    if (background !== null) this.#countBackground(background);
    if (!ALLOWED.has(tag)) return this.#toContent(element.childNodes);

    const properties: Element['properties'] = {};
    for (const { name, value } of element.attrs) {
      const safe = safeAttribute(tag, name, value);
      if (safe === null) continue;
      this.#spend(safe.length);
      properties[toProperty(name)] = safe;
    }
    this.#setStyle(element, properties);
    if (tag === 'img' && !this.#setImage(element, properties)) return [];
    if (tag === 'img' && properties.src === undefined && this.#options.altTexts === true) {
      return typeof properties.alt === 'string' ? [{ type: 'text', value: properties.alt }] : [];
    }
    const children = this.#toContent(element.childNodes);
    if (tag === 'a') this.#setLink(element, properties, children);
    this.#spend(tag.length);
    return [{ type: 'element', tagName: tag, properties, children }];
  }

  #setStyle(element: HtmlElement, properties: Element['properties']): void {
    const styles: Styles = new Map();
    this.#readStyles(element, styles);
    if (styles.size === 0) return;
    const style = writeStyles(styles);
    this.#spend(style.length);
    properties.style = style;
  }

  #readStyles(element: HtmlElement, styles: Styles): void {
    const classes = new Set(
      (attributeOf(element, 'class') ?? '').split(/\s+/, 20).filter((one) => one !== ''),
    );
    const id = attributeOf(element, 'id');
    this.#sheets.addTo(styles, { tag: element.tagName, id, classes }, this.#styleContext);
    const style = attributeOf(element, 'style');
    if (style !== null) addStyles(styles, style, this.#styleContext);
  }

  /** False when nothing is left to show. */
  #setImage(element: HtmlElement, properties: Element['properties']): boolean {
    const src = attributeOf(element, 'src');
    if (attributeOf(element, 'srcset') !== null) this.#count('remote_content');
    if (src === null) return true;
    const within = this.#ownImage(src) ?? embeddedImage(src);
    const remote = within === null ? remoteImage(src) : null;
    if (within === null && (remote === null || !this.#options.allowRemote)) {
      this.#count(remote === null ? 'images' : 'remote_images');
      // A tracking pixel has neither text nor size.
      return properties.alt !== undefined || properties.width !== undefined;
    }
    const kept = within ?? remote ?? '';
    this.#spend(kept.length);
    properties.src = kept;
    if (within === null) properties.referrerPolicy = 'no-referrer';
    return true;
  }

  #setLink(
    element: HtmlElement,
    properties: Element['properties'],
    children: readonly ElementContent[],
  ): void {
    delete properties.title;
    const href = attributeOf(element, 'href');
    if (href === null) return;
    const link = readLink(href);
    if (link.kind !== 'link') {
      // The loss of a link within the page is not worth reporting.
      if (link.kind === 'unsafe') this.#count('scripts');
      else if (!href.trimStart().startsWith('#')) this.#count('links');
      return;
    }
    const { url } = link;
    this.#spend(url.href.length);
    properties.href = url.href;
    properties.target = '_blank';
    properties.rel = ['noopener', 'noreferrer', 'nofollow'];
    const target = toTarget(url);
    if (target === null) return;
    const shown = this.#otherSite(
      { type: 'element', tagName: 'a', properties, children: [...children] },
      target,
    );
    if (shown !== null || url.username !== '') {
      this.#deceptiveLinks++;
      properties.title = target.name;
      properties.dataLinkHost = target.name;
      properties.dataShownHost = shown ?? url.username.slice(0, 100);
    }
  }

  /** The site that a link shows other than its target; `''` when it can't be determined, null when there is none. */
  #otherSite(link: Element, target: LinkTarget): string | null {
    const readings = readLinkText(link, this.#linkBudget);
    return readings === null ? '' : otherSiteShown(readings, target, this.#linkBudget);
  }

  /** An address that this service made, for an image of the email. */
  #ownImage(address: string): string | null {
    if (this.#own.has(address)) return address;
    for (const id of contentIdsOf(address)) {
      const own = this.#options.images.get(id);
      if (own !== undefined) return own;
    }
    return null;
  }

  #countHandlers({ attrs }: HtmlElement): void {
    for (const { name } of attrs) if (name.startsWith('on')) this.#count('event_handlers');
  }

  #countBackground(address: string): void {
    this.#count(isRemote(address) ? 'remote_content' : 'images');
  }

  /** Counts an element that is left out, and its content. */
  #countDropped(element: HtmlElement): void {
    const { tagName: tag, namespaceURI } = element;
    const kind =
      namespaceURI === HTML ? (Object.hasOwn(DROPPED, tag) ? DROPPED[tag] : null) : FOREIGN.get(tag);
    if (kind !== null && kind !== undefined) this.#count(kind);
    this.#countHandlers(element);
    const addresses = ['src', 'href', 'data', 'poster', 'code', 'action'].map(
      (name) => attributeOf(element, name) ?? '',
    );
    if (tag !== 'a' && addresses.some(isRemote)) this.#count('remote_content');
    for (const child of element.childNodes) if (isElement(child)) this.#countDropped(child);
  }

  /** Throws when the result becomes too long. */
  #spend(chars: number): void {
    // Tags and quotes.
    this.#charsLeft -= chars + 10;
    if (this.#charsLeft < 0)
      throw new HtmlLimitError(`more than ${MAX_SAFE_OUTPUT_CHARS} characters come out`);
  }
}

const HTML = 'http://www.w3.org/1999/xhtml';
const ALLOWED: ReadonlySet<string> = new Set(ALLOWED_ELEMENTS);
/** Counted once for each element, without those within it. */
const FOREIGN: ReadonlyMap<string, RemovedKind> = new Map([
  ['svg', 'vector_graphics'],
  ['math', 'vector_graphics'],
  ['script', 'scripts'],
]);
/** Styles of a body that its box takes over. */
const OF_BOX =
  /^(?:color|background-color|font(?:-.+)?|line-height|text-align|direction|padding(?:-.+)?|white-space)$/;

/** The box of a body that is already safe; null for any other. */
function boxOf({ childNodes }: HtmlElement): HtmlElement | null {
  const [only, ...others] = childNodes;
  const isBox = only !== undefined && isElement(only) && only.tagName === 'div' && others.length === 0;
  return isBox && attributeOf(only, BOX_MARK_NAME) !== null ? only : null;
}

function attributeOf({ attrs }: HtmlElement, name: string): string | null {
  return attrs.find((attribute) => attribute.name === name)?.value ?? null;
}
