/** The ways in which messages arrive. */
export const MAIL_WAYS = ['http', 'lmtp', 'smtp', 'imap', 'import'] as const;

/** How a message arrived. */
export interface MailSource {
  readonly way: (typeof MAIL_WAYS)[number];
  /** For IMAP the mailbox; for an import `maildir`, `mbox` or `file`; otherwise null. */
  readonly place: string | null;
}
