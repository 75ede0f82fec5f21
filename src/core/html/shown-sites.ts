/**
 * Finds links whose text shows a web site or an email address other than their target. Sites are compared, so
 * `www.shop.test` may lead to `shop.test`. Every site in the text counts: a right one does not excuse a wrong one.
 */
import { parse as parseDomain } from 'tldts';
import { lookalikeOf } from '../address/lookalike.ts';
import type { LinkBudget, LinkReading } from './link-text.ts';
import { parseUrl } from './safe-links.ts';

/** The target of a link: the sites, and for `mailto:` the addresses in lower case. */
export interface LinkTarget {
  /** The name that the reader is shown. */
  readonly name: string;
  readonly sites: ReadonlySet<string>;
  /** null for a web page. */
  readonly addresses: ReadonlySet<string> | null;
  /** The address with escapes decoded, as a text may show it. */
  readonly href: string;
  /** A host as people read it, where its letters may be taken for those of another one; otherwise null. */
  readonly lookalike: string | null;
}

/** null for a link that leads to no site, such as a telephone number, or `mailto:` alone. */
export function toTarget(url: URL): LinkTarget | null {
  if (url.protocol === 'http:' || url.protocol === 'https:') {
    const sites = new Set([siteOf(url.hostname)]);
    const lookalike = lookalikeOf(url.hostname);
    return { name: url.host, sites, addresses: null, href: decode(url.href), lookalike };
  }
  if (url.protocol !== 'mailto:') return null;
  // RFC 6068 §2: the recipients are in the path and in these fields.
  const fields = ['to', 'cc', 'bcc'].flatMap((name) => url.searchParams.getAll(name));
  const addresses = [decode(url.pathname), ...fields]
    .flatMap((list) => list.split(','))
    .map((address) => address.trim().toLowerCase())
    .filter((address) => address !== '');
  if (addresses.length === 0) return null;
  const hosts = addresses.map((address) => hostOf(address.slice(address.lastIndexOf('@') + 1)) ?? '');
  return {
    name: addresses.join(', ').slice(0, MAX_NAME_CHARS),
    sites: new Set(hosts.map(siteOf)),
    addresses: new Set(addresses.map(withoutTag)),
    href: decode(url.href),
    lookalike: hosts.map(lookalikeOf).find((one) => one !== null) ?? null,
  };
}

const MAX_NAME_CHARS = 200;

/** A site or an address that a text shows. */
interface Claim {
  readonly shown: string;
  readonly site: string;
  /** null for a site. */
  readonly address: string | null;
}

/**
 * The other site that one of the readings shows; null when none shows any. `''` when the budget is used up.
 *
 * @param mayBeCut a style may cut off the beginning or the end of a text
 */
export function otherSiteShown(
  readings: readonly LinkReading[],
  target: LinkTarget,
  budget: LinkBudget,
  mayBeCut: boolean,
): string | null {
  for (const reading of readings) {
    const other = findOther(reading, target, budget, mayBeCut);
    if (budget.hosts < 0 || budget.chars < 0) return '';
    if (other !== null) return other;
  }
  return null;
}

/** A word. The last four excluded characters are letters that look blank; the one before them is the blank Braille cell. */
const WORD = /[^\s\p{Z}\p{C}<>"\u2800\u115f\u1160\u3164\uffa0]+/gu;
/** Something that may be a host or an address. */
const TOKEN = /[\p{L}\p{N}\p{M}._@%+-]+/gu;
const SCHEME = /https?:[\\/]{1,9}$/i;
/** Alone, it is an address; within a text, it is the number of a version. */
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
/** After a host: the rest is a path, query, fragment or port of it. */
const PLACE = /^(?:[/?#]|:\d)/;
/** In that rest: text that looks like another site at first glance. */
const SITE_IN_PLACE = /[:/]\/|www\./i;

function findOther(
  reading: LinkReading,
  target: LinkTarget,
  budget: LinkBudget,
  mayBeCut: boolean,
): string | null {
  const seen = new Set<string>();
  const text = normalize(reading.text);
  const whole = text.trim();
  // NFKC may turn one character into eighteen.
  budget.chars -= text.length;
  if (budget.chars < 0) return null;
  for (const [word] of text.matchAll(WORD)) {
    for (const { 0: token, index } of word.matchAll(TOKEN)) {
      if (!token.includes('.')) continue;
      const rest = word.slice(index + token.length);
      const isAddress = IPV4.test(token) && whole === word && (rest === '' || PLACE.test(rest));
      const hasScheme = isAddress || SCHEME.test(word.slice(Math.max(0, index - 17), index));
      const found = claimsOf(token, hasScheme, reading.isGuess, budget);
      const claims = mayBeCut ? found.flatMap((claim) => [claim, ...beginningsOf(claim)]) : found;
      if (budget.hosts < 0) return null;
      const other = claims.find((claim) => isOther(claim, target, reading.isJoined));
      if (other !== undefined) return other.shown;
      for (const { address, site } of claims) if (address !== null) seen.add(site);
      const isPlace = claims.length > 0 && PLACE.test(rest);
      // An address that contains another one, such as an archive's, is fine when it is the target.
      const hasOther = mayBeCut || SITE_IN_PLACE.test(rest);
      if (isPlace && (!hasOther || target.href.includes(word))) break;
    }
  }
  // Only some of several recipients are shown, and the others get the mail as well.
  const others = target.addresses === null || seen.size === 0 ? [] : [...target.sites];
  return others.some((site) => !seen.has(site)) ? ([...seen][0] ?? null) : null;
}

function isOther({ site, address }: Claim, target: LinkTarget, isJoined: boolean): boolean {
  if (address !== null && target.addresses !== null) return !target.addresses.has(withoutTag(address));
  if (target.sites.has(site)) return false;
  return !isJoined || ![...target.sites].some((own) => site.endsWith(own));
}

/** Invisible characters, and those that change the direction of writing. */
const UNSEEN =
  /\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e0fff}]/gu;

/** `bank[.]com` and `hxxps://`, as people write an address that is not to be followed. */
const DEFUSED_DOT = /[[({](?:\.|dot|punkt)[\])}]/gi;
const DEFUSED_SCHEME = /hxxp(?=s?:)/gi;

/** Reads text as browsers and people read an address: in plain letters, without escapes. Two dots in a row become one, three a space. */
function normalize(text: string): string {
  return decode(text.normalize('NFKC').replace(UNSEEN, '').replaceAll('\u3002', '.'))
    .replace(DEFUSED_DOT, '.')
    .replace(DEFUSED_SCHEME, 'http')
    .replace(/\.{3,}/g, ' ')
    .replaceAll('..', '.');
}

/** Decodes ASCII that is written like `%2e`; anything else stays. */
function decode(text: string): string {
  return text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

function claimsOf(token: string, hasScheme: boolean, isGuess: boolean, budget: LinkBudget): readonly Claim[] {
  const at = token.lastIndexOf('@');
  if (at > 0 && !hasScheme) {
    const host = toHost(token.slice(at + 1), true, budget);
    // Also where `@` follows a site: the reader sees that site first.
    const before = toHost(token.slice(0, at), false, budget);
    const address = `${token.slice(0, at)}@${host ?? ''}`.toLowerCase();
    const claims = host === null ? [] : [{ shown: address, site: siteOf(host), address }];
    return before === null || !before.startsWith('www.') ? claims : [toClaim(before), ...claims];
  }
  return token.split(/[@+%_]/).flatMap((part, index) => {
    const host = toHost(part, (hasScheme && index === 0) || /^www\./i.test(part), budget);
    const isMeant = !isGuess || hasScheme || host?.startsWith('www.') === true;
    return host === null || !isMeant ? [] : [toClaim(host)];
  });
}

/** Endings at which a reader takes the beginning of a longer host for a whole one. */
const WELL_KNOWN = /\.(?:com|net|org|info|biz|edu|gov|[a-z]{2})$/;

/** The sites that are seen when the end of a host is cut off: `www.bank.com` of `www.bank.com.evil.test`. */
function beginningsOf({ site, address, shown }: Claim): readonly Claim[] {
  if (address !== null || !shown.endsWith(`.${site}`)) return [];
  const labels = shown
    .slice(0, -site.length - 1)
    .split('.')
    .slice(0, MAX_LABELS);
  return labels
    .map((_, index) => labels.slice(0, index + 1).join('.'))
    .filter((host) => WELL_KNOWN.test(host) && parseDomain(host).domain !== null)
    .map(toClaim);
}

const MAX_LABELS = 10;

const toClaim = (host: string): Claim => ({ shown: host, site: siteOf(host), address: null });

const MAX_HOST_CHARS = 253;
/** Legal forms of German companies, which are not sites. */
const NOT_HOSTS: ReadonlySet<string> = new Set(['co.kg']);

/** RFC 6761, RFC 6762 and RFC 7686: names that are hosts and in no registry. */
const OF_NO_REGISTRY = /\.(?:test|example|invalid|localhost|local|internal|onion)$/;

/** null when the text is not a host. @param isMeant it is in the place of an address's host, so it counts as one in any case */
function toHost(text: string, isMeant: boolean, budget: LinkBudget): string | null {
  const written = text.replace(/^[.-]{1,9}/, '').replace(/[.-]$/, '');
  if (!written.includes('.') || written.length > MAX_HOST_CHARS) return null;
  budget.hosts -= 1;
  if (budget.hosts < 0) return null;
  const host = hostOf(written);
  if (host === null || isMeant) return host;
  // `Vertrag.docx` is a file.
  const { domain, isIcann } = parseDomain(host);
  return domain !== null && (isIcann === true || OF_NO_REGISTRY.test(host)) && !NOT_HOSTS.has(host)
    ? host
    : null;
}

const hostOf = (written: string): string | null => parseUrl(`http://${written}`)?.hostname ?? null;

/** Under a suffix such as `myshopify.com`, each name is a site of its own. */
const siteOf = (host: string): string => parseDomain(host, { allowPrivateDomains: true }).domain ?? host;

/** `ann+news@…` is `ann@…`. */
const withoutTag = (address: string): string => address.replace(/\+[^@+]*(?=@[^@]*$)/, '');
