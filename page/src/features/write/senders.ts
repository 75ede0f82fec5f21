/**
 * In whose name a message can go out: the addresses of the accounts, some of them patterns for many. The rules are those of the service
 * (src/core/accounts/sender-addresses.ts), which checks the address again when the message is sent.
 */
import type { Account, Address } from 'email-worker-client';
import { formatAddresses } from './addresses.ts';
import type { ClosingText } from './closing.ts';

/** An address of an account, or a pattern: `*@example.com` (`domain`), `sales+*@example.com` (`detail`). */
export interface Sender {
  readonly accountId: string;
  readonly kind: 'plain' | 'detail' | 'domain';
  readonly name: string;
  readonly address: string;
  /** From of the account, which it uses when nothing else is chosen. */
  readonly isUsual: boolean;
  readonly signature: ClosingText | null;
  readonly footer: Footer | null;
}

interface Footer extends ClosingText {
  readonly oncePerThread: boolean;
}

/** All senders of the accounts, From of each first. An account that the responding process does not know has none. */
export const sendersOf = (accounts: readonly Account[]): readonly Sender[] => accounts.flatMap(ofAccount);

function ofAccount({ id: accountId, from_address: from, settings }: Account): readonly Sender[] {
  if (from === null) return [];
  const signature = closingOf(settings?.signature_text, settings?.signature_html);
  const footer = closingOf(settings?.footer_text, settings?.footer_html);
  const shared = {
    accountId,
    footer: footer && { ...footer, oncePerThread: settings?.footer_once_per_thread === true },
  };
  return [
    { ...shared, kind: 'plain', ...from, isUsual: true, signature },
    ...(settings?.addresses ?? []).map((entry): Sender => {
      const { name, address } = readAddress(entry.address);
      return {
        ...shared,
        kind: address.startsWith('*@') ? 'domain' : address.includes('*') ? 'detail' : 'plain',
        name: entry.name ?? (name === '' ? from.name : name),
        address,
        isUsual: false,
        signature: closingOf(entry.signature_text, entry.signature_html) ?? signature,
      };
    }),
  ];
}

const closingOf = (text: string | null | undefined, html: string | null | undefined): ClosingText | null =>
  text === null || text === undefined ? null : { text, html: html ?? null };

/** `Name <address>`, or an address alone. */
export function readAddress(text: string): Address {
  const [, name = '', address] = /^(.*)<([^<>]*)>\s*$/s.exec(text) ?? [];
  const given = name.trim();
  const unquoted = /^"(.*)"$/s.exec(given)?.[1]?.replace(/\\(.)/g, '$1');
  return { name: unquoted ?? given, address: (address ?? text).trim() };
}

/** What sends as the address: its own entry, else a pattern for its detail, else one for its domain. null: the account does not. */
export function senderFor(senders: readonly Sender[], accountId: string, address: string): Sender | null {
  const own = senders.filter((one) => one.accountId === accountId);
  const sought = keyOf(address);
  if (sought.includes('*')) return null;
  const base = withoutDetail(sought);
  return (
    own.find(({ kind, address: one }) => kind === 'plain' && keyOf(one) === sought) ??
    own.find(
      ({ kind, address: one }) => kind === 'detail' && base !== sought && withoutDetail(keyOf(one)) === base,
    ) ??
    own.find(({ kind, address: one }) => kind === 'domain' && domainOf(keyOf(one)) === domainOf(sought)) ??
    null
  );
}

/** What stands before and after the part of a pattern that a person types. */
export function aroundWild({ address }: Pick<Sender, 'address'>): readonly [string, string] {
  const at = address.indexOf('*');
  return [address.slice(0, at), address.slice(at + 1)];
}

/** Words between dots, of the letters of all languages (RFC 6531), without `*`; or in quotes. */
const WHOLE = /^(?!\.)(?:(?:[^\p{Z}\p{Cc}\p{Cf}"(),.:;<>@[\\\]*]|[\u200c\u200d]|\.(?!\.|$))+|"[^"]+")$/u;
/** RFC 5321 §4.5.3.1.1 */
const MAX_LOCAL_OCTETS = 64;

/** False while a part of a pattern is still to be typed, or has letters that no address has. */
export function isWhole(address: string): boolean {
  const local = address.slice(0, address.lastIndexOf('@'));
  const octets = new TextEncoder().encode(local).length;
  return octets <= MAX_LOCAL_OCTETS && WHOLE.test(local) && !local.endsWith('+');
}

/** The part of a pattern that a person types. Domains are written in several ways. */
export function freePartOf(pattern: Pick<Sender, 'address'>, address: string): string {
  const [before] = aroundWild(pattern);
  return address.slice(before.length, Math.max(before.length, address.lastIndexOf('@')));
}

/**
 * `from` of a draft when this sender is chosen from all; null: the one that the service uses. For a pattern, the free part is still to be
 * typed, unless it is that of the address to which the answered email was written.
 *
 * @param usual the sender that the service uses for an answer; null: From of the account
 */
export function fromFor(sender: Sender, senders: readonly Sender[], usual: Address | null): string | null {
  if (usual === null ? sender.isUsual : senderFor(senders, sender.accountId, usual.address) === sender)
    return null;
  return sender.kind === 'plain' ? sender.address : aroundWild(sender).join('');
}

export interface ChosenSender extends Address {
  /** null: the account does not send as this address (any more), or is not known. */
  readonly sender: Sender | null;
}

interface Choice {
  readonly accountId: string | undefined;
  /** As the draft has it; null: nothing was chosen. */
  readonly from: string | null;
  /** The address that the service uses when nothing is chosen; null: From of the account. */
  readonly usual: Address | null;
}

/** In whose name the message goes out; null: that is not known yet. */
export function chosenSender(
  senders: readonly Sender[],
  { accountId, from, usual }: Choice,
): ChosenSender | null {
  const own = senders.find((one) => one.accountId === accountId && one.isUsual);
  const asked = from === null ? (usual ?? own) : readAddress(from);
  if (asked === undefined) return null;
  const sender = accountId === undefined ? null : senderFor(senders, accountId, asked.address);
  return {
    name: asked.name === '' ? (sender?.name ?? '') : asked.name,
    address: asked.address,
    sender,
  };
}

/** `from` of a draft as text; a program may have written an object. */
export function fromOf(
  from: string | { readonly address: string; readonly name?: string | null } | null | undefined,
): string | null {
  if (from === null || from === undefined || typeof from === 'string') return from ?? null;
  return formatAddresses([{ name: from.name ?? '', address: from.address }]);
}

/** Case does not matter, of ASCII letters, and a domain may be written in its own script. */
function keyOf(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  return (address.slice(0, at) + (URL.parse(`http://${domain}`)?.hostname ?? domain)).replace(
    /[A-Z]+/g,
    (letters) => letters.toLowerCase(),
  );
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

function withoutDetail(address: string): string {
  const plus = address.indexOf('+');
  const at = plus === -1 ? -1 : address.indexOf('@', plus);
  return at === -1 ? address : address.slice(0, plus) + address.slice(at);
}
