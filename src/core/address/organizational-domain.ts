/** The domain that an owner registered, as DMARC compares domains (RFC 7489 §3.2), by the list of publicsuffix.org. */
import { getDomain } from 'tldts';

/** `mail.example.co.uk` → `example.co.uk`; a name without one, such as `localhost`, is its own. Lower-case ASCII. */
export function organizationalDomain(domain: string): string {
  return getDomain(domain, { allowPrivateDomains: true }) ?? domain;
}
