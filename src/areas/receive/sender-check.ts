/**
 * Checks the sender of a message that came by SMTP from the network itself, or the signatures of one that a mail server
 * hands over.
 */
import type { AuthResults } from '../../core/message/authentication.ts';
import type { Content } from '../../platform/files/file-ports.ts';

/** The client that hands a message over. */
export interface MailClient {
  /** IP address. */
  readonly address: string;
  /** The name that it gives itself. */
  readonly helo: string;
}

export interface SenderFacts {
  readonly raw: Content;
  /** null: another mail server took the message, so that nothing is known of SPF. */
  readonly client: MailClient | null;
  /** null for `<>`. */
  readonly mailFrom: string | null;
}

export interface SenderCheck {
  /**
   * When DNS gives no answer, the result is `temperror`. A message that breaks the check has not passed. Throws when it can't be checked now:
   * recorded without a check, a forged message would be as good as any, so it is put off.
   */
  check(facts: SenderFacts): Promise<AuthResults>;
}
