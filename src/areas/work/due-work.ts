/** The work that waits in the database for the loops of a process, whichever process left it there. */

export interface DueWork {
  /** Finds all of it in one statement. Throws `ServiceError('database_unavailable')`. */
  find(): Promise<DueNow>;
}

export interface DueNow {
  /** Time until the first queued send of a configured account is due, in ms: 0 or less when one is. null: none waits. */
  readonly sendInMs: number | null;
  /** Emails whose words are not indexed yet. */
  readonly search: boolean;
  /** Past mail to be linked by rules learned from sends, or mail that was recorded while rules changed. */
  readonly customers: boolean;
  /** Reports whose email was not known when they arrived. */
  readonly reports: boolean;
  /** Copies to be compared with the sent email that was recorded after them. */
  readonly copies: boolean;
  /** A person to be erased. */
  readonly erasures: boolean;
  /** Files of deleted emails to be deleted. */
  readonly deletedFiles: boolean;
  /** Sent emails to be put into the Sent mailbox of a configured account. */
  readonly sentCopies: boolean;
  /** The mailboxes of a configured account, which no process reads. */
  readonly mailboxes: boolean;
  /** A webhook that no process delivers to. */
  readonly webhooks: boolean;
  /** Another number with every change of an account. */
  readonly accountVersion: number;
  /** Grows with every change of a webhook. */
  readonly webhookVersion: number;
  /** The end of the feed; null when there is no webhook to deliver to. */
  readonly feedPosition: number | null;
  /** Grows with every change of the suppression list. */
  readonly suppressionVersion: number;
}
