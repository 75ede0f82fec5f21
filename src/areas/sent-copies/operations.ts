/** POST /api/emails/{id}/sent-copy/retry: a copy that could not be put into the Sent mailbox is tried again. */
import { ServiceError } from '../../core/errors.ts';
import { operationsWith } from '../../platform/operation/declaration.ts';
import { EmailParams } from '../../platform/schemas/schemas.ts';
import { SentCopy } from '../../platform/schemas/sent-copy-schema.ts';
import type { EmailDetail } from '../emails/email-ports.ts';
import type { AccountOf } from '../../platform/access/account-of.ts';
import type { SentCopyStore } from './sent-copy-ports.ts';

const operation = operationsWith<{
  readonly sentCopies: Pick<SentCopyStore, 'retry'>;
  readonly accountOf: Pick<AccountOf, 'email'>;
  readonly readEmail: (id: string) => Promise<EmailDetail>;
}>();

export const sentCopyOperations = [
  operation({
    id: 'retrySentCopy',
    method: 'POST',
    path: '/api/emails/:id/sent-copy/retry',
    // The answer shows what was stored before.
    right: ['read', 'operate'],
    account: { of: ({ id }, { accountOf }) => accountOf.email(id), missing: 'email_not_found' },
    tag: 'Mailboxes',
    summary: 'Retry the copy in the Sent mailbox now',
    description:
      'For a copy that failed or awaits its next attempt; the time to give up starts anew. The mailbox is searched first, so ' +
      'it never gets a second copy. Needs no body; a body with fields is refused.',
    params: EmailParams.properties,
    answer: 'Scheduled for an immediate attempt.',
    output: SentCopy,
    errors: ['no_sent_copy_to_retry'],
    act: {
      event: 'sent_copy.retried',
      what: ({ id }) => ({ emailId: id }),
      before: async ({ id }, { readEmail }) => (await readEmail(id)).sentCopy?.state ?? null,
      after: ({ state }) => state,
    },
    async run(_caller, { id }, { sentCopies }) {
      const copy = await sentCopies.retry(id);
      if (copy === 'not_found') throw new ServiceError('email_not_found');
      if (copy === 'refused') throw new ServiceError('no_sent_copy_to_retry');
      return copy;
    },
  }),
];
