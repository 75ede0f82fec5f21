/**
 * Addresses of this service for remote images, which the service then fetches itself. Each is signed (HMAC-SHA256, RFC 2104) for one email,
 * one remote address and a short time, so that no stranger makes the service fetch anything.
 */
import { createHmac } from 'node:crypto';
import { parseUrl } from './safe-links.ts';

/** The right to sign images of one email for a while. Held by the process that reads its HTML, which learns no other key. */
export interface ProxyKey {
  /** The path of the addresses, such as `/api/images/{id of the email}`. */
  readonly path: string;
  /** Unix time in seconds. */
  readonly expires: number;
  /** Who asked for the email; opaque. */
  readonly by: string;
  /** Base64url. */
  readonly key: string;
}

/** Remote addresses, in characters: with its signature, an address must fit into a URL that this service takes (maxUrlLength). */
export const MAX_PROXIED_CHARS = 2800;

/** Remote images of one email that are fetched. Newsletters have 10 to 60; a stranger's email could have 15,000, at anybody's server. */
export const MAX_PROXIED_IMAGES = 1000;

/**
 * The address as it is signed and fetched, without a fragment; null when it is not fetched: not http or https, too long, or with a user or
 * password, which the sender could take from another site's link.
 */
export function toProxied(address: string): string | null {
  const url = parseUrl(address);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  if (url.username !== '' || url.password !== '') return null;
  url.hash = '';
  return url.href.length > MAX_PROXIED_CHARS ? null : url.href;
}

/** @param key of one email, asker and time */
export const signProxied = (key: Buffer, address: string): Buffer =>
  createHmac('sha256', key).update(address).digest();

export class ProxiedImages {
  readonly #given: ProxyKey;
  readonly #key: Buffer;
  readonly #start: string;
  /** Remote address → its own. */
  readonly #signed = new Map<string, string>();

  constructor(given: ProxyKey) {
    this.#given = given;
    this.#key = Buffer.from(given.key, 'base64url');
    this.#start = `${given.path}?address=`;
  }

  /** The address of this service for a remote image; null when the image is not fetched, or one of too many. */
  toOwn(remote: string): string | null {
    const address = toProxied(remote);
    if (address === null) return null;
    const known = this.#signed.get(address);
    if (known !== undefined) return known;
    if (this.#signed.size >= MAX_PROXIED_IMAGES) return null;
    const own = this.#write(address);
    this.#signed.set(address, own);
    return own;
  }

  /** True for what `toOwn` returns: an email can't write such an address itself. */
  isOwn(address: string): boolean {
    if (!address.startsWith(this.#start)) return false;
    const [written = ''] = address.slice(this.#start.length).split('&', 1);
    const remote = toProxied(Buffer.from(written, 'base64url').toString());
    return remote !== null && this.#write(remote) === address;
  }

  #write(address: string): string {
    const { expires, by } = this.#given;
    const signature = signProxied(this.#key, address).toString('base64url');
    const written = Buffer.from(address).toString('base64url');
    return `${this.#start}${written}&by=${by}&expires=${expires}&signature=${signature}`;
  }
}
