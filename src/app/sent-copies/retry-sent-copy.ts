/** The operator's act on a copy that could not be put into the Sent mailbox. */
import { ServiceError } from '../../core/errors.ts';
import type { SentCopyStore } from './sent-copy-ports.ts';
import type { SentCopyUseCases } from './use-cases.ts';

export function createSentCopyOperations(store: SentCopyStore): SentCopyUseCases {
  return {
    async retrySentCopy(emailId) {
      const copy = await store.retry(emailId);
      if (copy === 'not_found') throw new ServiceError('email_not_found');
      if (copy === 'refused') throw new ServiceError('no_sent_copy_to_retry');
      return copy;
    },
  };
}
