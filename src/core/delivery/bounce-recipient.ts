/**
 * What came of a delivery for one recipient, and what a failure says about the address: enhanced status codes of RFC 3463 and the registry of RFC 5248, and
 * the words of servers that use them loosely.
 */

/** `hard`: the address takes no mail and will not; sending again only harms our name. `soft`: anything else. */
export type BounceSeverity = 'hard' | 'soft';

/** What happened for a recipient, RFC 3464 §2.3.3. */
export type BounceAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';

export interface BounceRecipient {
  /** `local@domain`, as we wrote it if the report says so (Original-Recipient), else as the last server saw it. */
  readonly address: string;
  /** As the last server saw it, where that is another; null else. */
  readonly finalAddress: string | null;
  readonly action: BounceAction;
  /** null for `delivered`, `relayed` and `expanded`. */
  readonly severity: BounceSeverity | null;
  /** RFC 3463, such as `5.1.1`; null when the report has none. */
  readonly status: string | null;
  /** The server's words on one line, at most 1,000 characters; empty when there are none. */
  readonly diagnostic: string;
}

/** Permanent codes that say that the address is no good. */
const HARD_STATUS = /^5\.(?:1\.(?:[0-4]|6|10)|2\.1|4\.4)$/;

/** Words that say so under any code. */
const NO_SUCH_ADDRESS =
  /\b(?:user|recipient|mailbox|address|account|addressee|email)\b.{0,40}\b(?:unknown|not (?:be )?found|does ?n[o']t exist|no longer (?:exists|available|valid)|disabled|inactive|invalid|not listed|not exist|is not a valid|unavailable or does not exist)\b|\b(?:no such|unknown|invalid|bad destination|non-?existent) (?:local )?(?:user|recipient|mailbox|address|account|person|host|domain)\b|\bno mailbox here\b|\bRecipNotFound\b|\bhost or domain name not found\b|\bdomain (?:name )?not found\b|\bunrouteable address\b|\bRecipient address rejected: Access denied\b/i;

/** Words of a refusal of the message, the sender, or for now, under any code. */
const NOT_THE_ADDRESS =
  /\b(?:spam|spammer|blocked|block ?list|blacklist|denylist|reputation|policy|dmarc|spf|dkim|unauthenticated|greylist|rate limit|throttl|quota|over ?quota|mailbox (?:is )?full|full mailbox|insufficient (?:system )?storage|too large|size limit|exceeds|virus|malware|relay(?:ing)? (?:access )?denied|not permitted to relay|try again|temporar(?:y|ily))\b/i;

/** null for what is no failure. `diagnostic` is on one line. */
export function classifyFailure(
  action: string,
  status: string | null,
  diagnostic: string,
): BounceSeverity | null {
  if (action === 'delayed') return 'soft';
  if (action !== 'failed') return null;
  if (status?.startsWith('4') === true) return 'soft';
  if (status !== null && HARD_STATUS.test(status)) return 'hard';
  if (NOT_THE_ADDRESS.test(diagnostic)) return 'soft';
  // When nothing says that the address is bad, it is not suppressed.
  return NO_SUCH_ADDRESS.test(diagnostic) ? 'hard' : 'soft';
}

/** The first enhanced status in a text; null when there is none. Addresses such as 5.1.1.9 are none. */
export function findStatus(text: string): string | null {
  return /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/.exec(text)?.[0] ?? null;
}
