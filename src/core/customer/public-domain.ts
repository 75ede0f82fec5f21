/**
 * Domains that say nothing about the owner of an address: those of mail providers, where any person can get an address,
 * and public suffixes such as `co.uk`, below which any person can get a domain. The lists come from the packages
 * `email-providers` and `tldts` (publicsuffix.org), with a few names of our own.
 */
import providers from 'email-providers';
import { parse } from 'tldts';
import { toAsciiDomain } from '../address/domain.ts';

/** Missing from the package: providers and access networks that give mailboxes to any person, seen in German-language mail. */
const MORE_PROVIDERS = [
  '1und1.de',
  'a1.net',
  'aon.at',
  'chello.at',
  'duck.com',
  'email.de',
  'ewetel.net',
  'fastmail.com',
  'fastmail.fm',
  'gmx.ch',
  'hispeed.ch',
  'ionos.de',
  'kabelbw.de',
  'magenta.at',
  'magenta.de',
  'mail.de',
  'mein.gmx',
  'mnet-mail.de',
  'netcologne.de',
  'o2mail.de',
  'o2online.de',
  'posteo.at',
  'posteo.ch',
  'posteo.de',
  'posteo.net',
  'sunrise.ch',
  't-online.com',
  'tuta.com',
  'tuta.io',
  'tutanota.com',
  'tutanota.de',
  'unitybox.de',
  'vodafone.de',
  'vodafonemail.de',
];

/** In the package, but reserved for documents (RFC 2606 §3): no provider. */
const RESERVED = new Set(['example.com', 'example.net', 'example.org']);

const PROVIDERS: ReadonlySet<string> = new Set(
  [...providers, ...MORE_PROVIDERS]
    .map(toAsciiDomain)
    .filter((domain): domain is string => domain !== null && !RESERVED.has(domain)),
);

/** `domain` is lower-case ASCII. `subdomains`: the question is about everything below it, not the domain itself. */
export function isPublicDomain(domain: string, subdomains: boolean): boolean {
  if (PROVIDERS.has(domain)) return true;
  const { publicSuffix, isIcann, isPrivate } = parse(domain, { allowPrivateDomains: true });
  // Below a suffix like `uk.com`, which a company sells, there are strangers; the domain itself belongs to that company.
  return publicSuffix === domain && (isIcann === true || (isPrivate === true && subdomains));
}
