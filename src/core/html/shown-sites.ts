/**
 * Whether the text of a link shows a web site or an email address other than the one that it leads to. Sites are compared, so
 * `www.shop.test` may lead to `shop.test`. Every site that the text shows counts: one that is right hides none that is wrong.
 */
import { parse as parseDomain } from 'tldts';
import type { LinkBudget, LinkReading } from './link-text.ts';
import { parseUrl } from './safe-links.ts';

/** Where a link leads: the sites, and for `mailto:` the addresses in lower case. */
export interface LinkTarget {
  /** As it is told to the reader. */
  readonly name: string;
  readonly sites: ReadonlySet<string>;
  /** null for a web page. */
  readonly addresses: ReadonlySet<string> | null;
  /** The address as it may be written. */
  readonly href: string;
}

/** null for one that leads to no site: a telephone. */
export function toTarget(url: URL): LinkTarget | null {
  if (url.protocol === 'http:' || url.protocol === 'https:') {
    const sites = new Set([siteOf(url.hostname)]);
    return { name: url.host, sites, addresses: null, href: decode(url.href) };
  }
  if (url.protocol !== 'mailto:') return null;
  // RFC 6068 §2: recipients are in the path and in these fields.
  const fields = ['to', 'cc', 'bcc'].flatMap((name) => url.searchParams.getAll(name));
  const addresses = [decode(url.pathname), ...fields]
    .flatMap((list) => list.split(','))
    .map((address) => address.trim().toLowerCase())
    .filter((address) => address !== '');
  const sites = addresses.map((address) => siteOf(hostOf(address.slice(address.lastIndexOf('@') + 1)) ?? ''));
  return {
    name: addresses.join(', ').slice(0, MAX_NAME_CHARS),
    sites: new Set(sites),
    addresses: new Set(addresses.map(withoutTag)),
    href: decode(url.href),
  };
}

const MAX_NAME_CHARS = 200;

/** A site or an address, as a text shows it. */
interface Claim {
  readonly shown: string;
  readonly site: string;
  /** null for a site. */
  readonly address: string | null;
}

/** What one of the readings shows; null when all of them show nothing else. `''` when the budget does not last. */
export function otherSiteShown(
  readings: readonly LinkReading[],
  target: LinkTarget,
  budget: LinkBudget,
): string | null {
  for (const reading of readings) {
    const other = findOther(reading, target, budget);
    if (budget.hosts < 0 || budget.chars < 0) return '';
    if (other !== null) return other;
  }
  return null;
}

/** Between the words. The last four are letters that leave an empty place, the one before is an empty Braille cell. */
const WORD = /[^\s\p{Z}\p{C}<>"\u2800\u115f\u1160\u3164\uffa0]+/gu;
/** Something that may be a host or an address. */
const TOKEN = /[\p{L}\p{N}\p{M}._@%+-]+/gu;
const SCHEME = /https?:[\\/]{1,9}$/i;
/** Behind a host: the rest is a place at it. */
const PLACE = /^(?:[/?#]|:\d)/;
/** Behind it: what looks like another site at the first look. */
const SITE_IN_PLACE = /[:/]\/|www\./i;

function findOther(reading: LinkReading, target: LinkTarget, budget: LinkBudget): string | null {
  const seen = new Set<string>();
  const text = normalize(reading.text);
  // One character may become eighteen.
  budget.chars -= text.length;
  if (budget.chars < 0) return null;
  for (const [word] of text.matchAll(WORD)) {
    for (const { 0: token, index } of word.matchAll(TOKEN)) {
      if (!token.includes('.')) continue;
      const hasScheme = SCHEME.test(word.slice(Math.max(0, index - 17), index));
      const claims = claimsOf(token, hasScheme, reading.isGuess, budget);
      if (budget.hosts < 0) return null;
      const other = claims.find((claim) => isOther(claim, target, reading.isJoined));
      if (other !== undefined) return other.shown;
      for (const { address, site } of claims) if (address !== null) seen.add(site);
      const rest = word.slice(index + token.length);
      const isPlace = claims.length > 0 && PLACE.test(rest);
      // An address that has another one in it, such as those of an archive, when it is where the link leads.
      if (isPlace && (!SITE_IN_PLACE.test(rest) || target.href.includes(word))) break;
    }
  }
  // One of several recipients is shown, and another one gets it as well.
  const others = target.addresses === null || seen.size === 0 ? [] : [...target.sites];
  return others.some((site) => !seen.has(site)) ? ([...seen][0] ?? null) : null;
}

function isOther({ site, address }: Claim, target: LinkTarget, isJoined: boolean): boolean {
  if (address !== null && target.addresses !== null) return !target.addresses.has(withoutTag(address));
  if (target.sites.has(site)) return false;
  return !isJoined || ![...target.sites].some((own) => site.endsWith(own));
}

/** Marks that are not seen, and those that turn the direction of writing. */
const UNSEEN =
  /\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e0fff}]/gu;

/** As browsers read it in an address: in plain letters, without escapes. Two points in a row are one, three are none. */
function normalize(text: string): string {
  return decode(text.normalize('NFKC').replace(UNSEEN, '').replaceAll('\u3002', '.'))
    .replace(/\.{3,}/g, ' ')
    .replaceAll('..', '.');
}

/** ASCII that is written as `%2e`; anything else stays. */
function decode(text: string): string {
  return text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

function claimsOf(token: string, hasScheme: boolean, isGuess: boolean, budget: LinkBudget): readonly Claim[] {
  const at = token.lastIndexOf('@');
  if (at > 0 && !hasScheme) {
    const host = toHost(token.slice(at + 1), true, budget);
    // Also where `@` follows a site: what is before it is read first.
    const before = toHost(token.slice(0, at), false, budget);
    const address = `${token.slice(0, at)}@${host ?? ''}`.toLowerCase();
    const claims = host === null ? [] : [{ shown: address, site: siteOf(host), address }];
    return before === null || !before.startsWith('www.') ? claims : [toClaim(before), ...claims];
  }
  return token.split(/[@+%_]/).flatMap((part, index) => {
    const host = toHost(part, hasScheme && index === 0, budget);
    const isMeant = !isGuess || hasScheme || host?.startsWith('www.') === true;
    return host === null || !isMeant ? [] : [toClaim(host)];
  });
}

const toClaim = (host: string): Claim => ({ shown: host, site: siteOf(host), address: null });

const MAX_HOST_CHARS = 253;
/** Legal forms of German companies, which are no sites. */
const NOT_HOSTS: ReadonlySet<string> = new Set(['co.kg']);

/** null when it is none. @param isMeant it stands where an address has a host, so it is one in any case */
function toHost(text: string, isMeant: boolean, budget: LinkBudget): string | null {
  const written = text.replace(/^[.-]{1,9}/, '').replace(/[.-]$/, '');
  if (!written.includes('.') || written.length > MAX_HOST_CHARS) return null;
  budget.hosts -= 1;
  if (budget.hosts < 0) return null;
  const host = hostOf(written);
  if (host === null || isMeant) return host;
  // `Vertrag.docx` is a file.
  const { domain, isIcann } = parseDomain(host);
  return isIcann === true && domain !== null && !NOT_HOSTS.has(host) ? host : null;
}

const hostOf = (written: string): string | null => parseUrl(`http://${written}`)?.hostname ?? null;

const siteOf = (host: string): string => parseDomain(host).domain ?? host;

/** `ann+news@…` is `ann@…`. */
const withoutTag = (address: string): string => address.replace(/\+[^@+]*(?=@[^@]*$)/, '');
