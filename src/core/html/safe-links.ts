/** Addresses in safe HTML: the targets that a link or an image may have. */
import { MAX_URL_CHARS } from './limits.ts';

const LINKED = new Set(['http:', 'https:', 'mailto:', 'tel:']);
const RUNNING = new Set(['javascript:', 'vbscript:', 'livescript:', 'data:']);

/** `unsafe` runs something; `other` has a target that is not allowed. */
export type SafeLink = { readonly kind: 'link'; readonly url: URL } | { readonly kind: 'unsafe' | 'other' };

/**
 * Reads as browsers do (WHATWG URL), except that a relative address leads nowhere without a base: an email has no address itself.
 *
 * @param base see readBase
 */
export function readLink(href: string, base: string | undefined): SafeLink {
  if (href.length > MAX_URL_CHARS) return { kind: 'other' };
  const url = parseUrl(href, base);
  if (url === null) return { kind: 'other' };
  if (LINKED.has(url.protocol)) return { kind: 'link', url };
  return { kind: RUNNING.has(url.protocol) ? 'unsafe' : 'other' };
}

/** null when the text is not an address. */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** The address that relative ones of an email refer to: a web page, or none. */
export function readBase(href: string): string | undefined {
  const url = href.length > MAX_URL_CHARS ? null : parseUrl(href);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined;
}

/** The address of a remote image; null for any other. */
export function remoteImage(src: string, base?: string): string | null {
  if (src.length > MAX_URL_CHARS) return null;
  // Without a scheme, as in `//host/image`, browsers use the page's.
  const url = parseUrl(src.trim().replace(/^[\\/]{2}/, 'https://'), base);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return url.href;
}

/** The address of a remote image as a style has it: without the characters that end one. */
export function remoteBackground(address: string): string | null {
  const url = remoteImage(address);
  return url === null
    ? null
    : url
        .replace(/#.*$/s, '')
        .replace(/[^\w:;,+/=?&.%~-]/g, (one) => encodeURIComponent(one).replace(/['()*!]/g, toHex));
}

const toHex = (one: string): string => `%${one.charCodeAt(0).toString(16)}`;

/** True for an address that would be fetched from elsewhere, whatever it is. */
export const isRemote = (address: string): boolean => remoteImage(address.slice(0, MAX_URL_CHARS)) !== null;

const RASTER_DATA = /^data:image\/(?:png|jpe?g|gif|webp|bmp);base64,[A-Za-z0-9+/]+={0,2}$/i;

/** A raster image embedded in its address, RFC 2397; null for any other. */
export function embeddedImage(src: string): string | null {
  const text = src.replace(/[\t\n\f\r ]+/g, '');
  return RASTER_DATA.test(text) ? text : null;
}

/** The identifier in `cid:…` (RFC 2392), as written and decoded; empty for any other address. */
export function contentIdsOf(src: string): readonly string[] {
  const [, id] = /^\s*cid:(\S{1,998})\s*$/i.exec(src) ?? [];
  if (id === undefined) return [];
  try {
    return [id, decodeURIComponent(id)];
  } catch {
    return [id];
  }
}
