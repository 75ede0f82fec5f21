/** Checks who sent a message that came by SMTP from the network itself, or what is signed in one that a mail server hands over. */
import type { AuthResults } from '../../core/message/authentication.ts';
import type { Content } from '../files/file-ports.ts';

/** Who hands a message over. */
export interface MailClient {
  /** IP address. */
  readonly address: string;
  /** What it calls itself. */
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
  /** null when it could not be checked; never throws. What DNS does not tell is `temperror`. */
  check(facts: SenderFacts): Promise<AuthResults | null>;
}
