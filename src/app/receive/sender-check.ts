/** Checks who sent a message that came by SMTP from the network itself. */
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
  readonly client: MailClient;
  /** null for `<>`. */
  readonly mailFrom: string | null;
}

export interface SenderCheck {
  /** null when it could not be checked; never throws. What DNS does not tell is `temperror`. */
  check(facts: SenderFacts): Promise<AuthResults | null>;
}
