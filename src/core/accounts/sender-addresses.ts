/**
 * The addresses of an account: that of its From, and further ones, some of them patterns for many. They decide in which names the account
 * may send, and which addresses are ours.
 *
 * To send, an address has to be named, by itself or by a pattern. To be ours it is enough that mail to it arrives here, so `+detail` of each
 * address is ours, too (RFC 5233).
 */
import type { ClosingText } from './closing.ts';
import { addrSpec, type Address } from '../address/address.ts';

/** An address of an account besides its From, or a pattern: `*@example.com` for its domain, `sales+*@example.com` for `+detail`. */
export interface SenderAddress {
  /** The local part of a pattern is `*`, or ends in `+*`. Without a name, that of From counts. */
  readonly address: Address;
  /** The address for answers, unless a send names others; null: none. */
  readonly replyTo: Address | null;
  /** Before that of the account. Default: none. */
  readonly signature?: ClosingText | null;
}

export interface Sender {
  readonly from: Address;
  /** Default: none. */
  readonly addresses?: readonly SenderAddress[];
}

export interface Identity {
  /** As it stands in From; its name is the configured one. */
  readonly from: Address;
  /** What declares it; null: From of the account. */
  readonly declared: SenderAddress | null;
  /** False: by a pattern. */
  readonly isExact: boolean;
}

/** `none`: an address without `*`. null: `*` is at another place. */
export function patternOf({ localPart }: Address): 'none' | 'domain' | 'detail' | null {
  if (!localPart.includes('*')) return 'none';
  if (localPart === '*') return 'domain';
  return /^[^*+]+\+\*$/.test(localPart) ? 'detail' : null;
}

/**
 * How the account sends as this address; null: it does not. Case does not matter, of ASCII letters: others are other mailboxes, such as
 * one with the Kelvin sign for a K. An address that is named comes before a pattern, and `+detail` before a domain.
 */
export function identityFor({ from, addresses = [] }: Sender, asked: Address): Identity | null {
  const sought = asciiKey(asked);
  if (asciiKey(from) === sought) return { from, declared: null, isExact: true };
  const found = addresses.find(({ address }) => asciiKey(address) === sought);
  const isPlain = patternOf(asked) === 'none';
  if (found !== undefined && isPlain) {
    return { from: named(found.address, from), declared: found, isExact: true };
  }
  const pattern = isPlain ? (detailPattern(addresses, sought) ?? domainPattern(addresses, asked)) : undefined;
  if (pattern === undefined) return null;
  return {
    from: named({ ...asked, name: pattern.address.name }, from),
    declared: pattern,
    isExact: false,
  };
}

/**
 * The accounts that send as this address: those that name it, else those with a pattern for it.
 *
 * @param accounts those that count
 */
export function accountsWith<One extends Sender>(accounts: Iterable<One>, asked: Address): readonly One[] {
  const exact: One[] = [];
  const byPattern: One[] = [];
  for (const account of accounts) {
    const identity = identityFor(account, asked);
    if (identity !== null) (identity.isExact ? exact : byPattern).push(account);
  }
  return exact.length > 0 ? exact : byPattern;
}

/** The address in which an answer goes out: the first of these in which the account may send. null: none. */
export function answeringIdentity(account: Sender, writtenTo: Iterable<Address>): Identity | null {
  for (const address of writtenTo) {
    const identity = identityFor(account, address);
    if (identity !== null) return identity;
  }
  return null;
}

/** True if the account sends as this `local@domain`, as another program wrote it. */
export function sendsAs({ from, addresses = [] }: Sender, address: string): boolean {
  const key = address.toLowerCase();
  if (keyOf(from) === key) return true;
  const base = withoutDetail(key);
  return addresses.some(({ address: one }) => {
    const pattern = patternOf(one);
    if (pattern === 'domain') return key.slice(key.lastIndexOf('@') + 1) === one.domain;
    if (pattern === 'detail') return base !== key && base === withoutDetail(keyOf(one));
    return keyOf(one) === key;
  });
}

/** True if the account names this `local@domain`, and has not merely a pattern for it. */
export const isNamedBy = ({ from, addresses = [] }: Sender, address: string): boolean =>
  [from, ...addresses.map((one) => one.address)].some((one) => keyOf(one) === address.toLowerCase());

/** The domains of its addresses, each once. */
export const domainsOf = ({ from, addresses = [] }: Sender): readonly string[] => [
  ...new Set([from.domain, ...addresses.map(({ address }) => address.domain)]),
];

/** True if mail to this `local@domain` arrives at one of the accounts, as far as they declare it. */
export type IsOwnAddress = (address: string) => boolean;

export function ownAddresses(accounts: Iterable<Sender>): IsOwnAddress {
  const exact = new Set<string>();
  const domains = new Set<string>();
  for (const { from, addresses = [] } of accounts) {
    exact.add(addrSpec(from).toLowerCase());
    for (const { address } of addresses) {
      const pattern = patternOf(address);
      if (pattern === 'domain') domains.add(address.domain);
      else exact.add(pattern === 'detail' ? withoutDetail(keyOf(address)) : keyOf(address));
    }
  }
  return (address) => {
    const key = address.toLowerCase();
    return (
      exact.has(key) || exact.has(withoutDetail(key)) || domains.has(key.slice(key.lastIndexOf('@') + 1))
    );
  };
}

/** `sales+news@example.com` without `+news`; other addresses as they are. */
export function withoutDetail(address: string): string {
  const plus = address.indexOf('+');
  const at = plus === -1 ? -1 : address.indexOf('@', plus);
  return at === -1 ? address : address.slice(0, plus) + address.slice(at);
}

function detailPattern(addresses: readonly SenderAddress[], sought: string): SenderAddress | undefined {
  const base = withoutDetail(sought);
  if (base === sought) return undefined;
  return addresses.find(
    ({ address }) => patternOf(address) === 'detail' && withoutDetail(asciiKey(address)) === base,
  );
}

function domainPattern(addresses: readonly SenderAddress[], { domain }: Address): SenderAddress | undefined {
  return addresses.find(({ address }) => patternOf(address) === 'domain' && address.domain === domain);
}

const named = (address: Address, { name }: Address): Address =>
  address.name === '' ? { ...address, name } : address;

const keyOf = (address: Address): string => addrSpec(address).toLowerCase();

const asciiKey = (address: Address): string =>
  addrSpec(address).replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
