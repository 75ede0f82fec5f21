/**
 * The addresses that an email teaches, so that they are suggested to the person who writes the next one: the sender, and
 * everyone it was sent to. Mail that failed authentication teaches nothing, and neither does automatic mail: a forger could
 * put his name beside an address that people know, and newsletters would come before customers.
 */
import type { IsOwnAddress } from '../accounts/sender-addresses.ts';
import type { AuthVerdict } from '../message/authentication.ts';
import { toShownName } from './display-name.ts';
import { MAX_ADDR_SPEC_OCTETS } from './limits.ts';
import { nameWords } from '../search/prefix-query.ts';

/**
 * How an email mentions an address, and how far the name that it gives is trusted. 4: we wrote to it. 3: it wrote, and is
 * authenticated. 2: it wrote, and nothing proves who wrote. 1: it is another recipient of a received email.
 */
export type MentionKind = 1 | 2 | 3 | 4;

export interface Mention {
  /** `local@domain`, ASCII letters lower-case. */
  readonly address: string;
  /** The name to show; empty when there is none. */
  readonly name: string;
  readonly kind: MentionKind;
}

export interface MentioningEmail {
  readonly direction: 'inbound' | 'outbound';
  readonly from: Named;
  /** To, Cc and Bcc. */
  readonly recipients: readonly Named[];
  /** False: the email certainly did not go out. */
  readonly isListed: boolean;
  /** A program wrote it; of sent mail, automatic answers alone: that a program answered shows no interest in its reader. */
  readonly isAutomatic: boolean;
  /** null: nothing is known. */
  readonly verdict: AuthVerdict | null;
}

interface Named {
  readonly name?: string | null;
  readonly address?: string | null;
}

/** Addresses that one email teaches. Ours: emails with more are mailings, whose recipients are not typed one by one. */
export const MAX_MENTIONS = 200;

/** Machines that read no mail. Input: at most MAX_ADDR_SPEC_OCTETS characters. */
const MACHINE = /^(?:no[._-]?reply|do[._-]?not[._-]?reply|mailer-daemon|postmaster|bounces?)(?:[+._-]|@)/;

/** A character that no address contains, or one that would end a word of the index. */
const UNUSUAL = /[\s\p{Cc}\p{Cf}<>",;]/u;

/** Each address once, with its strongest mention. */
export function mentionsOf(email: MentioningEmail, isOwn: IsOwnAddress): readonly Mention[] {
  const { direction, from, recipients, isListed, isAutomatic, verdict } = email;
  if (!isListed || isAutomatic) return [];
  if (direction === 'inbound' && verdict === 'failed') return [];
  const found = new Map<string, Mention>();
  const add = (one: Named, kind: MentionKind) => {
    const address = toMentioned(one.address ?? '');
    if (address === null || isOwn(address) || (kind !== 4 && MACHINE.test(address))) return;
    if (found.has(address) || found.size === MAX_MENTIONS) return;
    found.set(address, { address, name: nameOf(one.name ?? '', address), kind });
  };
  if (direction === 'inbound') add(from, verdict === 'passed' ? 3 : 2);
  for (const recipient of recipients.slice(0, MAX_MENTIONS)) add(recipient, direction === 'outbound' ? 4 : 1);
  return [...found.values()];
}

/** null when nothing can be sent to it. */
function toMentioned(text: string): string | null {
  const at = text.lastIndexOf('@');
  if (at < 1 || at === text.length - 1 || text.length > MAX_ADDR_SPEC_OCTETS || UNUSUAL.test(text))
    return null;
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** A name that is an address would be mistaken for the one that mail goes to. */
function nameOf(text: string, address: string): string {
  const name = toShownName(text);
  return name.includes('@') || name.toLowerCase() === address ? '' : name;
}

/** Suffixes by which a domain is found: `mail.acme.test` and `acme.test`. Ours: domains have few labels. */
const MAX_DOMAIN_WORDS = 4;

/** Indexed words of one address; each is found by its beginning. */
const MAX_WORDS = 40;

/**
 * The words by which an address is found: the address, its domain and the domains above it (each with `@`), and the words
 * of both and of the name.
 */
export function addressWords(address: string, name: string): readonly string[] {
  const at = address.lastIndexOf('@');
  const labels = address.slice(at + 1).split('.');
  const domains = labels.slice(0, -1).map((_, index) => `@${labels.slice(index).join('.')}`);
  const words = new Set([
    address,
    ...(domains.length === 0 ? [`@${labels.join('.')}`] : domains.slice(0, MAX_DOMAIN_WORDS)),
    ...nameWords(address.slice(0, at)),
    ...nameWords(name),
    ...nameWords(labels.slice(0, -1).join(' ')),
  ]);
  return [...words].slice(0, MAX_WORDS);
}
