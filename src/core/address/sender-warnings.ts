/**
 * What deceives about the sender of a received email. Only the address can be proven (SPF, DKIM, DMARC); anyone can write any name beside
 * it.
 */
import type { AuthVerdict } from '../message/authentication.ts';
import unhomoglyph from 'unhomoglyph';
import { toShownName } from './display-name.ts';
import { toAsciiDomain } from './domain.ts';
import { lookalikeOf } from './lookalike.ts';
import { trimEnd } from '../trim-ends.ts';
import { organizationalDomain } from './organizational-domain.ts';

export const SENDER_WARNINGS = [
  /** The name contains an address, or the name of a web site, that is not the sender's. */
  'shows_other_address',
  /** The name is one of ours, and nothing proves that the email is. */
  'own_name',
  /** The address is one of ours, and nothing proves that the email is. */
  'own_address',
  /** The name or address contains characters that are not seen, or that change the direction of writing. */
  'hidden_characters',
  /** The domain may be taken for another one: letters of several scripts, or that look like plain ones. */
  'lookalike_domain',
] as const;
export type SenderWarning = (typeof SENDER_WARNINGS)[number];

export interface Sender {
  readonly direction: 'inbound' | 'outbound';
  readonly name: string;
  /** Empty when the email names none. */
  readonly address: string;
  /** null: nothing is known. */
  readonly verdict: AuthVerdict | null;
}

/** The accounts' own names and addresses, as `ownSenders` makes them. */
export interface OwnSenders {
  readonly names: ReadonlySet<string>;
  readonly addresses: ReadonlySet<string>;
  readonly sites: ReadonlySet<string>;
}

export const ownSenders = (
  all: readonly { readonly name: string; readonly address: string }[],
): OwnSenders => ({
  names: new Set(all.map(({ name }) => lettersOf(plainName(name))).filter((name) => name !== '')),
  addresses: new Set(all.map(({ address }) => comparable(address))),
  sites: new Set(all.map(({ address }) => siteOf(domainOf(address)))),
});

/** In the order of SENDER_WARNINGS; none for a sent email. */
export function senderWarnings(
  { direction, name, address, verdict }: Sender,
  own: OwnSenders,
): readonly SenderWarning[] {
  if (direction === 'outbound') return [];
  const plain = plainName(name);
  const domain = domainOf(address);
  const isProven = verdict === 'passed';
  // A pattern for a whole domain stands among them as it is written.
  const isOurs = own.addresses.has(comparable(address)) || own.addresses.has(comparable(`*@${domain}`));
  const found: Readonly<Record<SenderWarning, boolean>> = {
    shows_other_address: showsOther(plain, address),
    own_name: !isOurs && own.names.has(lettersOf(plain)) && !(isProven && own.sites.has(siteOf(domain))),
    own_address: isOurs && !isProven,
    hidden_characters: hasHidden(name) || hasHidden(address),
    lookalike_domain: lookalikeOf(domain) !== null,
  };
  return SENDER_WARNINGS.filter((one) => found[one]);
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);
const siteOf = (domain: string): string =>
  organizationalDomain(toAsciiDomain(domain) ?? domain.toLowerCase());

/** Without the tag after `+`, which people give to their own address. */
function comparable(address: string): string {
  const at = address.lastIndexOf('@');
  const [local = ''] = address.slice(0, Math.max(0, at)).toLowerCase().split('+', 1);
  return `${local}@${toAsciiDomain(domainOf(address)) ?? domainOf(address).toLowerCase()}`;
}

const plainName = (name: string): string => toShownName(name).normalize('NFKC');

/** What a plain name looks like: letters and digits alone. */
const lettersOf = (plain: string): string => unhomoglyph(plain.toLowerCase()).replace(/[^\p{L}\p{N}]+/gu, '');

const BETWEEN = /[\s<>()[\]{}"'“”„‘’«»,;|]+/u;
const DOMAIN = /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u;

function showsOther(plain: string, address: string): boolean {
  // Every domain that is looked for has a dot; most names of people have none.
  if (!plain.includes('.')) return false;
  const words = plain
    .replace(/[([{](?:at|ät)[)\]}]/gi, '@')
    .replace(/ ?@ ?/g, '@')
    .split(BETWEEN)
    .map((word) =>
      trimEnd(word.replace(/^(?:mailto|e-?mail|https?):(?:\/\/)?/i, ''), (one) => '.:!?/'.includes(one)),
    );
  return words.some((word) => {
    const at = word.lastIndexOf('@');
    const domain = word.slice(at + 1);
    if (!DOMAIN.test(domain)) return false;
    if (at > 0) return comparable(word) !== comparable(address);
    return at < 0 && /^www\./i.test(word) && siteOf(domain) !== siteOf(domainOf(address));
  });
}

/** Format characters, blank letters, and tags; not those that emoji and scripts need between their own letters. */
const HIDDEN =
  /\u034f|[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;
/** The flags of England, Scotland and Wales. */
const FLAG = /\u{1f3f4}[\u{e0020}-\u{e007e}]+\u{e007f}/gu;
/** Joiners and marks of direction, which Latin letters have no use for. */
const BESIDE_LATIN = /[\p{Script=Latin}\p{Nd}@.][\u200c-\u200f]|[\u200c-\u200f][\p{Script=Latin}\p{Nd}@.]/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}]/u;

const hasHidden = (text: string): boolean =>
  HIDDEN.test(text.replace(FLAG, '')) || (BESIDE_LATIN.test(text) && !RIGHT_TO_LEFT.test(text));
