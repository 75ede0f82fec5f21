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
import { groundColourOf, mendContrast } from './contrast.ts';
import { isBoxHidden, SHOWN, shownIn, type Shown } from './hidden.ts';
import { readLinkText, type LinkBudget, type Surroundings } from './link-text.ts';
import {
  MAX_LINK_HOSTS,
  MAX_LINK_TEXT_CHARS,
  MAX_ROUNDS,
  MAX_SAFE_INPUT_CHARS,
  MAX_SAFE_OUTPUT_CHARS,
} from './limits.ts';
import type { Scheme } from './media-query.ts';
import {
  attributeOf,
  HtmlLimitError,
  isElement,
  isText,
  parseHtml,
  type HtmlElement,
  type HtmlNode,
} from './parse-html.ts';
import { ProxiedImages, type ProxyKey } from './proxied-images.ts';
import { DROPPED, nothingRemoved, UNWRAPPED, type Removed, type RemovedKind } from './removed.ts';
import {
  contentIdsOf,
  embeddedImage,
  isRemote,
  readBase,
  readLink,
  remoteBackground,
  remoteImage,
} from './safe-links.ts';
import { otherSiteShown, toTarget, type LinkTarget } from './shown-sites.ts';
import { BOX, BOX_MARK, BOX_MARK_NAME } from './text-as-html.ts';
import { addStyles, Styles, TRANSPARENT, writeStyles, type StyleContext } from './safe-styles.ts';
import { ALLOWED_ATTRIBUTES, ALLOWED_ELEMENTS, safeAttribute, toProperty } from './safe-values.ts';
import { OF_BOX, only, StyleLimitError, StyleSheets, type SheetRule } from './style-sheets.ts';
import { withBreaks } from './word-breaks.ts';

export interface SanitizeOptions {
  /** Keeps images that are fetched by `http:` and `https:`. */
  readonly allowRemote: boolean;
  /** Remote images that are kept get addresses of this service, which fetches them. Default: null; their addresses stay. */
  readonly proxy?: ProxyKey | null;
  /** The addresses of the email's images, by Content-ID, and by file name where no other has it. */
  readonly images: ReadonlyMap<string, string>;
  /**
   * For a quote in an answer: an image that is left out is replaced by its alternative text, for programs that draw a broken image, and
   * what no reader was shown is left out. Default: false.
   */
  readonly isQuote?: boolean;
  /**
   * For a document of the email alone, in which its style sheets can reach nothing else: they come out as one, and elements keep their
   * classes and ids. Default: null; styles are moved into the elements.
   */
  readonly document?: { readonly scheme: Scheme } | null;
}

export interface SafeHtml {
  readonly html: string;
  /** The style sheet of a document; otherwise empty. It contains neither `<` nor a backslash. */
  readonly sheet: string;
  /** The background of the whole email, such as `#112233`; null: it has none, or a picture. */
  readonly ground: string | null;
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
  const given = isCut ? html.slice(0, MAX_SAFE_INPUT_CHARS) : html;
  try {
    return { ...makeStable(given, withReadableScheme(given, options), true), isCut };
  } catch (error) {
    if (!(error instanceof StyleLimitError)) throw error;
    const { removed, ...safe } = makeStable(given, options, false);
    return { ...safe, removed: { ...removed, style_sheets: removed.style_sheets + 1 }, isCut };
  }
}

/**
 * Many senders write dark colours for a part of their email, and the rest is then dark on dark. Such an email has the colours that it has
 * in the many programs that follow no such rules. Throws HtmlLimitError and StyleLimitError.
 */
function withReadableScheme(html: string, options: SanitizeOptions): SanitizeOptions {
  if (options.document?.scheme !== 'dark' || !/prefers-color-scheme/i.test(html)) return options;
  const faintIn = (scheme: Scheme): number =>
    new Sanitizer({ ...options, document: { scheme } }, null).run(html, true).faint;
  return faintIn('dark') > faintIn('light') ? { ...options, document: { scheme: 'light' } } : options;
}

/** Throws StyleLimitError as well. @param hasSheets whether the style sheets of the email are read */
function makeStable(html: string, options: SanitizeOptions, hasSheets: boolean): Omit<SafeHtml, 'isCut'> {
  const first = new Sanitizer(options, null).run(html, hasSheets);
  let { html: result, sheet } = first;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // The last reading of links is the one that counts: it sees the elements and rules that a browser will see.
    const again = new Sanitizer(options, sheet).run(result, hasSheets);
    if (again.html === result && again.sheet === sheet) {
      const { faint: _faint, ...safe } = again;
      return { ...safe, ground: first.ground, removed: first.removed };
    }
    ({ html: result, sheet } = again);
  }
  throw new HtmlLimitError(`still changes when it is read ${MAX_ROUNDS} times`);
}

/** What applies to an element; conditions of `@media` may add to it. */
interface Facts {
  readonly rules: readonly SheetRule[];
  /** Set by attributes. */
  readonly hints: Styles;
  readonly own: Styles;
  /** Without conditions. */
  readonly base: Styles;
}

const NO_STYLES = new Styles();

class Sanitizer {
  readonly #options: SanitizeOptions;
  readonly #isDocument: boolean;
  readonly #removed = nothingRemoved();
  readonly #sheets: StyleSheets;
  /** The sheet of an earlier round. */
  readonly #given: string | null;
  /** Addresses that this service made. */
  readonly #own: ReadonlySet<string>;
  readonly #proxied: ProxiedImages | null;
  readonly #images: ReadonlyMap<string, string>;
  readonly #styleContext: StyleContext;
  readonly #facts = new WeakMap<Element, Facts>();
  /** Of the element `base`. */
  #base: string | undefined;
  #deceptiveLinks = 0;
  #ground: string | null = null;
  /** See mendContrast. */
  #faint = 0;
  #links = 0;
  /** The end of the text so far. */
  #textBefore = '';
  /** Some style cuts off what is too long for its place. Certain only in a later round, whose styles are written by us. */
  #mayBeCut = false;
  /** As certain as that. */
  #surroundings: Surroundings = { turns: false, isBeside: false };
  #charsLeft = MAX_SAFE_OUTPUT_CHARS;
  readonly #linkBudget: LinkBudget = { chars: MAX_LINK_TEXT_CHARS, hosts: MAX_LINK_HOSTS };

  /** @param given the sheet of an earlier round; null: the HTML is an email's */
  constructor(options: SanitizeOptions, given: string | null) {
    this.#options = options;
    this.#given = given;
    this.#isDocument = options.document !== undefined && options.document !== null;
    this.#own = new Set(options.images.values());
    const { proxy = null } = options;
    this.#proxied = proxy === null ? null : new ProxiedImages(proxy);
    // RFC 2392: a Content-ID has the case of its letters; senders often write another one.
    this.#images = new Map(
      [...options.images]
        .toReversed()
        .flatMap(([id, url]) => [[id.toLowerCase(), url] as const, [id, url] as const]),
    );
    this.#styleContext = {
      toImage: (address) => this.#toImage(address),
      isRemote,
      onRemoved: (kind) => this.#count(kind),
    };
    this.#sheets = new StyleSheets({
      context: this.#styleContext,
      scheme: options.document?.scheme ?? 'auto',
      onRemote: () => this.#count('remote_content'),
      isScoped: given !== null,
    });
  }

  run(html: string, hasSheets: boolean): Omit<SafeHtml, 'isCut'> & { readonly faint: number } {
    const root = parseHtml(html);
    const written = `${html.replace(BOX, '')} ${this.#given ?? ''}`;
    this.#mayBeCut = CUTS.test(written);
    this.#surroundings = { turns: TURNS.test(written), isBeside: BESIDE.test(written) };
    if (this.#given === null) this.#readSheets(root, hasSheets);
    else this.#sheets.add(this.#given, '');
    let body: HtmlElement | null = null;
    for (const child of root.childNodes) {
      if (!isElement(child)) continue;
      if (child.tagName === 'body') body = child;
      else this.#countDropped(child);
    }
    const safe = sanitize(this.#toBox(root, body), SCHEMA);
    const result = toHtml(safe);
    const sheet = this.#isDocument ? this.#sheets.write(root, body) : '';
    return {
      html: result,
      sheet,
      ground: this.#ground,
      removed: this.#removed,
      deceptiveLinks: this.#deceptiveLinks,
      faint: this.#faint,
    };
  }

  #count(kind: RemovedKind): void {
    this.#removed[kind]++;
  }

  /** Runs before the elements are read, since some sheets are in the middle of a body. */
  #readSheets(node: HtmlElement, hasSheets: boolean): void {
    for (const child of node.childNodes) {
      if (!isElement(child)) continue;
      if (child.tagName === 'base') this.#base ??= readBase(attributeOf(child, 'href') ?? '');
      if (child.tagName === 'style' && child.namespaceURI === node.namespaceURI) {
        const css = child.childNodes.map((text) => (isText(text) ? text.value : '')).join('');
        if (hasSheets) this.#sheets.add(css, attributeOf(child, 'media') ?? '');
      } else this.#readSheets(child, hasSheets);
    }
  }

  #toBox(root: HtmlElement, body: HtmlElement | null): Root {
    const properties: Element['properties'] = { [BOX_MARK]: '1' };
    const box: Element = { type: 'element', tagName: 'div', properties, children: [] };
    const inner = body === null ? null : (boxOf(body) ?? body);
    const { base, own, hints } = this.#readBoxStyles(root, inner);
    if (inner !== null) {
      if (inner === body) this.#countHandlers(body);
      for (const name of ['dir', 'lang']) {
        const value = attributeOf(inner, name) ?? attributeOf(root, name);
        const safe = value === null ? null : safeAttribute('div', name, value);
        if (safe !== null) properties[name] = safe;
      }
      if (this.#isDocument) this.#setNames(inner, properties);
      box.children = this.#toContent(inner.childNodes, shownIn(base, SHOWN));
    }
    const written = new Styles();
    if (this.#isDocument) {
      // A rule of the sheets counts for more than an attribute.
      for (const [property, { text }] of hints.values) {
        if (base.get(property) === text) written.set(property, text);
      }
      written.addAll(own);
    } else written.addAll(base);
    const more = writeStyles(only(written, OF_BOX), this.#isDocument);
    properties.style = more === '' ? BOX : `${BOX};${more}`;
    this.#facts.set(box, { rules: [], hints, own, base });
    if (this.#given === null) {
      this.#faint = mendContrast(box, (element) => this.#facts.get(element)?.base);
      this.#ground = groundColourOf(box, base);
    }
    return { type: 'root', children: [box] };
  }

  /** The box has the styles of `html` and `body`: the page behind an email is theirs. */
  #readBoxStyles(root: HtmlElement, body: HtmlElement | null): Omit<Facts, 'rules'> {
    const hints = new Styles();
    const own = new Styles();
    const base = new Styles();
    const elements = body === null ? [root] : [root, body];
    for (const element of elements) {
      this.#readHints(element, hints);
      for (const [name, property] of [
        ['bgcolor', 'background-color'],
        ['text', 'color'],
      ] as const) {
        const color = safeAttribute('body', 'bgcolor', attributeOf(element, name) ?? '');
        if (typeof color === 'string') hints.set(property, color);
      }
      const style = attributeOf(element, 'style');
      if (style !== null) addStyles(own, style, this.#styleContext);
    }
    base.addAll(hints);
    for (const element of elements) this.#addRules(base, this.#sheets.rulesFor(element).sure, NO_MEDIA);
    base.addAll(own);
    return { hints, own, base: only(base, OF_BOX) };
  }

  #addRules(styles: Styles, rules: readonly SheetRule[], media: ReadonlySet<string>): void {
    for (const rule of rules) {
      if (rule.media === '' || media.has(rule.media)) styles.addAll(this.#sheets.stylesOf(rule));
    }
  }

  #toContent(nodes: readonly HtmlNode[], shown: Shown): ElementContent[] {
    const content: ElementContent[] = [];
    for (const node of nodes) {
      if (isText(node)) {
        if (this.#options.isQuote === true && (!shown.isVisible || shown.isZero)) continue;
        this.#spend(node.value.length);
        const text = node.value.replaceAll('\0', '').toWellFormed();
        this.#textBefore = (this.#textBefore + text.slice(-MAX_BADGE_CHARS)).slice(-MAX_BADGE_CHARS);
        if (this.#isDocument) content.push(...withBreaks(text));
        else content.push({ type: 'text', value: text });
      } else if (isElement(node)) {
        for (const one of this.#toElements(node, shown)) content.push(one);
      }
    }
    return content;
  }

  /** Returns the element itself, its content, or nothing. */
  #toElements(element: HtmlElement, around: Shown): ElementContent[] {
    const tag = element.tagName;
    if (Object.hasOwn(DROPPED, tag) || element.namespaceURI !== HTML) {
      this.#countDropped(element);
      return [];
    }
    this.#countHandlers(element);
    const unwrapped = Object.hasOwn(UNWRAPPED, tag) ? UNWRAPPED[tag] : undefined;
    if (unwrapped !== undefined) this.#count(unwrapped);
    if (!ALLOWED.has(tag)) return this.#toContent(element.childNodes, around);

    const properties: Element['properties'] = {};
    for (const { name, value } of element.attrs) {
      const safe = safeAttribute(tag, name, value);
      if (safe === null) continue;
      this.#spend(safe === true ? 0 : safe.length);
      properties[toProperty(name)] = safe;
    }
    const facts = this.#readStyles(element);
    const isHidden = isBoxHidden(facts.base, properties['hidden'] === true);
    if (isHidden && this.#options.isQuote === true) return [];
    const shown = shownIn(facts.base, around);
    if (this.#isDocument) this.#setNames(element, properties);
    this.#setStyle(facts, properties);
    // One that is moved leaves its place to the texts around it, whose contrast is judged by it.
    if (tag === 'img' && !this.#setImage(element, properties) && !facts.base.isMoved) return [];
    if (tag === 'img' && properties.src === undefined && this.#options.isQuote === true) {
      return typeof properties.alt === 'string' ? [{ type: 'text', value: properties.alt }] : [];
    }
    if (tag === 'img' && this.#isDocument && properties.src !== undefined) {
      setRatio(properties, facts.base);
      keepWidth(properties, facts.base);
    }
    const { before, links } = { before: this.#textBefore, links: this.#links };
    const children = this.#toContent(element.childNodes, shown);
    const safe: Element = { type: 'element', tagName: tag, properties, children };
    this.#facts.set(safe, facts);
    if (tag === 'a') this.#setLink(element, safe, before);
    // Around a link, what a pointer shows would be taken for its target.
    else if (
      this.#links > links &&
      typeof properties.title === 'string' &&
      LIKE_ADDRESS.test(properties.title)
    )
      delete properties.title;
    this.#spend(tag.length);
    return [safe];
  }

  /** Names for style sheets and for links within the email. There is no script that could take them for something else. */
  #setNames(element: HtmlElement, properties: Element['properties']): void {
    const classes = (attributeOf(element, 'class') ?? '')
      .split(/[ \t\n\f\r]+/, MAX_CLASSES)
      .filter((one) => NAME.test(one));
    if (classes.length > 0) properties.className = classes;
    const names = ['id', ...(element.tagName === 'a' ? ['name'] : [])];
    const id = names.map((name) => attributeOf(element, name)).find((one) => one !== null && NAME.test(one));
    if (id !== undefined && id !== null) properties.id = id;
    this.#spend(classes.join(' ').length + (id?.length ?? 0));
  }

  #readHints(element: HtmlElement, hints: Styles): void {
    const background = attributeOf(element, 'background');
    if (background === null) return;
    const image = this.#toImage(background);
    if (image !== null) hints.set('background-image', `url("${image}")`);
    else {
      hints.hasLostGround = true;
      this.#count(isRemote(background) ? 'remote_images' : 'images');
    }
  }

  #readStyles(element: HtmlElement): Facts {
    const hints = new Styles();
    const own = new Styles();
    const base = new Styles();
    this.#readHints(element, hints);
    const style = attributeOf(element, 'style');
    if (style !== null) addStyles(own, style, this.#styleContext);
    const { sure: rules, unsure } = this.#sheets.rulesFor(element);
    base.addAll(hints);
    this.#addRules(base, rules, NO_MEDIA);
    base.addAll(own);
    this.#show(element, unsure, { own, base });
    // Judged with the others: an image that only a narrow window shows counts as one that is left out.
    for (const rule of rules) this.#sheets.stylesOf(rule);
    return { rules, hints, own, base };
  }

  /**
   * Text that the sheet hides is shown where a rule that is not followed may show it. Images are not: one that takes the place of another
   * would stand beside it.
   */
  #show(
    element: HtmlElement,
    unsure: readonly SheetRule[],
    { own, base }: Pick<Facts, 'own' | 'base'>,
  ): void {
    if (unsure.length === 0 || !isHiddenBy(base, element) || !hasText(element)) return;
    const more = new Styles();
    for (const rule of unsure) more.addAll(only(this.#sheets.stylesOf(rule), OF_SHOWING));
    const after = new Styles();
    after.addAll(base);
    for (const [property, { text }] of more.values) after.set(property, text, true);
    if (more.values.size === 0 || isHiddenBy(after, element)) return;
    for (const [property, { text }] of more.values) {
      own.set(property, text, true);
      base.set(property, text, true);
    }
  }

  #setStyle({ hints, own, base }: Facts, properties: Element['properties']): void {
    const written = new Styles();
    for (const styles of this.#isDocument ? [hints, own] : [base]) written.addAll(styles);
    const style = writeStyles(written, this.#isDocument);
    if (style === '') return;
    this.#spend(style.length);
    properties.style = style;
  }

  /** False when nothing is left to show. */
  #setImage(element: HtmlElement, properties: Element['properties']): boolean {
    const src = attributeOf(element, 'src');
    if (attributeOf(element, 'srcset') !== null) this.#count('remote_content');
    if (src === null) return true;
    const within = this.#ownImage(src, true) ?? embeddedImage(src);
    const remote = within === null ? remoteImage(src, this.#base) : null;
    const kept = within ?? this.#toKept(remote);
    if (kept === null) {
      this.#count(remote === null ? 'images' : 'remote_images');
      // A tracking pixel has neither text nor size.
      return properties.alt !== undefined || properties.width !== undefined;
    }
    this.#spend(kept.length);
    properties.src = kept;
    if (kept === remote) properties.referrerPolicy = 'no-referrer';
    return true;
  }

  /** @param before the end of the text before it */
  #setLink(element: HtmlElement, safe: Element, before: string): void {
    const { properties } = safe;
    delete properties.title;
    const href = attributeOf(element, 'href');
    if (href === null) return;
    this.#links++;
    const place = href.trim();
    if (place.startsWith('#')) {
      // The loss of a link within the email is not worth reporting.
      if (this.#isDocument && NAME.test(place.slice(1))) properties.href = place;
      return;
    }
    const link = readLink(href, this.#base);
    if (link.kind !== 'link') {
      this.#count(link.kind === 'unsafe' ? 'scripts' : 'links');
      return;
    }
    const { url } = link;
    this.#spend(url.href.length);
    properties.href = url.href;
    properties.target = '_blank';
    properties.rel = ['noopener', 'noreferrer', 'nofollow'];
    const target = toTarget(url);
    if (target === null) return;
    const shown = this.#otherSite(safe, target, badgeIn(before)) ?? target.lookalike;
    if (shown !== null || url.username !== '') {
      this.#deceptiveLinks++;
      properties.title = target.name;
      properties.dataLinkHost = target.name;
      properties.dataShownHost = shown ?? url.username.slice(0, 100);
      // The document's own style of a marked link counts for more than the mail's.
      if (typeof properties.style === 'string')
        properties.style = properties.style.replaceAll('!important', '');
    }
  }

  /**
   * The site that a link shows other than its target, in a window of any width; `''` when it can't be determined, null when there is
   * none.
   */
  #otherSite(link: Element, target: LinkTarget, badge: string | null): string | null {
    const conditions = new Set<string>();
    this.#collectMedia(link, conditions);
    if (conditions.size > MAX_CONDITIONS) return '';
    for (const media of subsetsOf([...conditions])) {
      if (media.size > 0) this.#linkBudget.chars -= CHARS_OF_CONDITION;
      const stylesOf = (element: Element) => this.#stylesIn(element, media);
      const readings = readLinkText(link, stylesOf, this.#surroundings, this.#linkBudget);
      const more = badge === null ? [] : [{ text: badge, isJoined: false, isGuess: false }];
      const shown =
        readings === null
          ? ''
          : otherSiteShown([...readings, ...more], target, this.#linkBudget, this.#mayBeCut);
      if (shown !== null) return shown;
    }
    return null;
  }

  #collectMedia(element: Element, conditions: Set<string>): void {
    for (const { media } of this.#facts.get(element)?.rules ?? []) if (media !== '') conditions.add(media);
    for (const child of element.children) {
      if (child.type === 'element' && conditions.size <= MAX_CONDITIONS)
        this.#collectMedia(child, conditions);
    }
  }

  #stylesIn(element: Element, media: ReadonlySet<string>): Styles {
    const facts = this.#facts.get(element);
    if (facts === undefined) return NO_STYLES;
    if (!facts.rules.some((rule) => media.has(rule.media))) return facts.base;
    const styles = new Styles();
    styles.addAll(facts.hints);
    this.#addRules(styles, facts.rules, media);
    styles.addAll(facts.own);
    return styles;
  }

  /** The address to write for an image; null: it may not stay. */
  #toImage(address: string): string | null {
    const own = this.#ownImage(address, false) ?? embeddedImage(address);
    return own ?? this.#toKept(remoteBackground(address));
  }

  /** The address to write for a remote image; null: it may not stay. */
  #toKept(remote: string | null): string | null {
    if (remote === null || !this.#options.allowRemote) return null;
    return this.#proxied === null ? remote : this.#proxied.toOwn(remote);
  }

  /**
   * An address that this service made, for an image of the email.
   *
   * @param hasNames seen in practice: the file name alone, as in `src="image001.png"`
   */
  #ownImage(address: string, hasNames: boolean): string | null {
    if (this.#own.has(address) || this.#proxied?.isOwn(address) === true) return address;
    for (const id of [...contentIdsOf(address), ...(hasNames ? [address.trim()] : [])]) {
      const own = this.#images.get(id) ?? this.#images.get(id.toLowerCase());
      if (own !== undefined) return own;
    }
    return null;
  }

  #countHandlers({ attrs }: HtmlElement): void {
    for (const { name } of attrs) if (name.startsWith('on')) this.#count('event_handlers');
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
/** An image that is made narrower than its sender wrote keeps its form. */
function setRatio(properties: Element['properties'], base: Styles): void {
  const { width, height, style = '' } = properties;
  const isFixed = [width, height].every((size) => /^[1-9]\d*$/.test(String(size)));
  const isStyled = ['width', 'height', 'aspect-ratio'].some((name) => base.get(name) !== undefined);
  if (!isFixed || isStyled || typeof style !== 'string') return;
  const ratio = `aspect-ratio:${String(width)}/${String(height)};height:auto`;
  properties.style = style === '' ? ratio : `${style};${ratio}`;
}

/** Narrower than any screen, in pixels. */
const NARROW = 300;

/** The document makes images no wider than their place; a cell would take that for leave to make a small one smaller. */
function keepWidth(properties: Element['properties'], base: Styles): void {
  const { style = '' } = properties;
  const [, width = properties.width] = /^(\d{1,4})px$/.exec(base.get('width') ?? '') ?? [];
  const isNarrow = /^[1-9]\d*$/.test(String(width)) && Number(width) <= NARROW;
  const isStyled = base.get('max-width') !== undefined || base.get('width')?.endsWith('%') === true;
  if (!isNarrow || isStyled || typeof style !== 'string') return;
  properties.style = style === '' ? 'max-width:none' : `${style};max-width:none`;
}

const OF_SHOWING =
  /^(?:color|display|visibility|opacity|(?:max-)?(?:height|width)|overflow(?:-[xy])?|font-size|line-height)$/;

function isHiddenBy(styles: Styles, element: HtmlElement): boolean {
  const shown = shownIn(styles, SHOWN);
  if (TRANSPARENT.test(styles.get('color') ?? '')) return true;
  return isBoxHidden(styles, attributeOf(element, 'hidden') !== null) || !shown.isVisible || shown.isZero;
}

const hasText = ({ childNodes }: HtmlElement): boolean =>
  childNodes.some((node) => (isText(node) ? node.value.trim() !== '' : isElement(node) && hasText(node)));

/** A host and what is around it. */
const MAX_BADGE_CHARS = 300;
const BADGE = /\[\s{0,9}([^\s[\]]{3,260})\s{0,9}\]\s{0,9}$/;
const LIKE_ADDRESS = /[\p{L}\p{N}]\s?\.\s?[\p{L}\p{N}]|:\/\//u;

/** A host in brackets, as the mark of the service stands before a link; null when the text does not end with one. */
const badgeIn = (text: string): string | null =>
  BADGE.exec(text.normalize('NFKC').slice(-MAX_BADGE_CHARS))?.[1] ?? null;

const TURNS = /\bdir="(?:rtl|auto)"|direction:rtl/;
const BESIDE = /column(?:s|-count|-width):|writing-mode:/;
const CUTS = /overflow(?:-[xy])?:(?:hidden|clip|auto|scroll)|text-indent:-/;

/** Rules without a condition. */
const NO_MEDIA: ReadonlySet<string> = new Set();
/** What reading a link once more, as in another window, counts among the characters of links. */
const CHARS_OF_CONDITION = 20;
/** Of the rules for one link. Newsletters have two. */
const MAX_CONDITIONS = 4;
/** Of one element. */
const MAX_CLASSES = 50;
const NAME = /^[\p{L}\p{N}_.:-]{1,100}$/u;

/** All sets of some of them. */
const subsetsOf = (all: readonly string[]): readonly ReadonlySet<string>[] =>
  all.reduce<readonly ReadonlySet<string>[]>(
    (sets, one) => [...sets, ...sets.map((set) => new Set([...set, one]))],
    [new Set()],
  );

/** The box of a body that is already safe; null for any other. */
function boxOf({ childNodes }: HtmlElement): HtmlElement | null {
  const [only, ...others] = childNodes;
  const isBox = only !== undefined && isElement(only) && only.tagName === 'div' && others.length === 0;
  return isBox && attributeOf(only, BOX_MARK_NAME) !== null ? only : null;
}
