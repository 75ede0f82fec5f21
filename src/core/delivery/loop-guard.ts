/**
 * Stops two machines from answering each other for ever (RFC 3834 §2). Only an automatic exchange counts: an answer
 * to an email that a program wrote, back to its sender, or an answer that is automatic itself. A person who
 * writes often to one address is not in a loop, and neither is a program that often sends unprompted.
 */
import { addrSpec, type Address } from '../address/address.ts';

/** RFC 3834 §5, for an email that no person wrote: an answer to another one, or not. */
export const AUTO_SUBMITTED = ['auto-replied', 'auto-generated'] as const;
export type AutoSubmitted = (typeof AUTO_SUBMITTED)[number];

export interface LoopLimit {
  /** Emails of automatic exchanges with one address in the window. */
  readonly maxEmails: number;
  /** Rolling. */
  readonly windowMs: number;
}

export interface Answer {
  readonly autoSubmitted: AutoSubmitted | null;
  /** To, cc and bcc. */
  readonly recipients: readonly Address[];
  /** The sender and reply addresses of the answered email, when a program wrote it; `local@domain`. */
  readonly automaticFrom: readonly string[];
}

/** The address, in lower case, with which the email is part of an automatic exchange; null when it is not. */
export function automaticExchange({ autoSubmitted, recipients, automaticFrom }: Answer): string | null {
  const addresses = recipients.map((address) => addrSpec(address).toLowerCase());
  const sources = new Set(automaticFrom.map((address) => address.toLowerCase()));
  const source = addresses.find((address) => sources.has(address));
  if (source !== undefined) return source;
  return autoSubmitted === 'auto-replied' ? (addresses[0] ?? null) : null;
}
