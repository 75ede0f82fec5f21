/** What the edges ask of copies in Sent mailboxes. */
import type { SentCopyView } from '../../core/sent-copies/sent-copy.ts';

export interface SentCopyUseCases {
  /** Has a copy that is not stored tried now. Throws `email_not_found`, `no_sent_copy_to_retry`. */
  retrySentCopy(emailId: string): Promise<SentCopyView>;
}
