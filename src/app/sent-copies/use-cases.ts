/** The use cases of copies in Sent mailboxes that the edges call. */
import type { SentCopyView } from '../../core/sent-copies/sent-copy.ts';

export interface SentCopyUseCases {
  /** Has a copy that is not stored tried now. Throws `email_not_found`, `no_sent_copy_to_retry`. */
  retrySentCopy(emailId: string): Promise<SentCopyView>;
}
