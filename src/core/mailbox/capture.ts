/**
 * What of an account's mailboxes is recorded. The rules see a header alone, before anything else of a message is fetched; what they leave
 * out stays in the mailbox. Where a header does not show enough, the message is recorded.
 */
import { createHash } from 'node:crypto';
import { domainOf, matchesAddress } from '../address/address-pattern.ts';

/** In which mailboxes messages are looked for, and which of them are left out. */
export interface CaptureRules {
  /** Besides INBOX and the Sent mailbox: names, `*` for any characters in them, or special uses (RFC 6154) such as `\Archive`. */
  readonly folders: readonly string[];
  /** Lower-case: an address, `*@domain`, or `*@*.domain` for what is below a domain. */
  readonly neverAddresses: readonly string[];
  /** Lower-case: parts of subjects. */
  readonly neverSubjects: readonly string[];
  /** Lower-case. */
  readonly internalDomains: readonly string[];
  /** Marked by Sensitivity (RFC 4021 §2.1.50). */
  readonly leaveOutPrivate: boolean;
  /** No mail with strangers. */
  readonly onlyCustomers: boolean;
}

/**
 * `address`: its sender, or all its recipients, are in `neverAddresses`. `subject`: in `neverSubjects`. `internal`: the sender, all
 * recipients and those who get the answer are in `internalDomains`. `private`: it is marked so. `stranger`: nobody in it is a customer, it answers no recorded email, and
 * it is no report.
 */
export const LEFT_OUT_REASONS = ['address', 'subject', 'internal', 'private', 'stranger'] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

/** Addresses in lower case. */
export interface CaptureFacts {
  readonly messageId: string | null;
  readonly from: readonly string[];
  /** To, Cc, and Bcc, which copies of sent mail have. */
  readonly recipients: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string;
  readonly sensitivity: string | null;
  /** Of In-Reply-To and References. */
  readonly answers: readonly string[];
  /** A mail server wrote it: it has no return path, or is a report (RFC 3464). Such a message is no stranger's. */
  readonly isReport: boolean;
}

/** Why a message is left out, apart from `stranger`; null: it is not. */
export function leftOutBy(
  rules: CaptureRules,
  { from, recipients, replyTo, subject, sensitivity }: CaptureFacts,
): Exclude<LeftOutReason, 'stranger'> | null {
  const isNever = (address: string) =>
    rules.neverAddresses.some((pattern) => matchesAddress(pattern, address));
  if (isEach(from, isNever) || isEach(recipients, isNever)) return 'address';
  const sought = subject.normalize('NFC').toLowerCase();
  if (rules.neverSubjects.some((part) => sought.includes(part))) return 'subject';
  const isInternal = (address: string) => rules.internalDomains.includes(domainOf(address));
  // A contact form of our own writes to us, with the customer in Reply-To.
  if (isEach(from, isInternal) && isEach(recipients, isInternal) && replyTo.every(isInternal))
    return 'internal';
  if (rules.leaveOutPrivate && PRIVATE.has(sensitivity?.trim().toLowerCase() ?? '')) return 'private';
  return null;
}

/** Identifies the rules that left messages out; null: no rules. The mailboxes to read are not part of it. */
export function rulesDigest(capture: CaptureRules | null): Buffer | null {
  if (capture === null) return null;
  const { folders: _, ...rules } = capture;
  return createHash('sha256').update(JSON.stringify(rules)).digest();
}

/** RFC 2156 §5.3.4. */
const PRIVATE: ReadonlySet<string> = new Set(['personal', 'private', 'company-confidential']);

/** True for none of none. */
const isEach = (addresses: readonly string[], is: (address: string) => boolean): boolean =>
  addresses.length > 0 && addresses.every(is);

/** True if a mailbox is one of `folders`. Drafts, junk and trash have to be named themselves. */
export function isCaptured(
  folders: readonly string[],
  { path, specialUse }: { readonly path: string; readonly specialUse: string | null },
): boolean {
  const use = specialUse?.toLowerCase() ?? null;
  return folders.some((folder) => {
    if (folder === path) return true;
    if (folder.startsWith('\\')) return folder.toLowerCase() === use;
    return folder.includes('*') && !(use !== null && NAMED_ONLY.has(use)) && isLike(folder, path);
  });
}

const NAMED_ONLY: ReadonlySet<string> = new Set(['\\drafts', '\\junk', '\\trash']);

/** In time that grows with the length of both: each part is searched from the end of the one before. */
function isLike(pattern: string, path: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop() ?? '';
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return path.length - last.length >= at && path.endsWith(last);
}
