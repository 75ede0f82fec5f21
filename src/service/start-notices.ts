/** A part of the composition root: mail to the operators about accounts that fail, if the configuration names their address. */
import { createHash } from 'node:crypto';
import { createFailingAccounts } from '../areas/mailboxes/failing-accounts.ts';
import { startNotifier } from '../areas/mailboxes/notify-operators.ts';
import { carryOutOnce, type SendOncePorts } from '../areas/send/send-once.ts';
import type { SendRequest } from '../areas/send/use-cases.ts';
import type { SpoolFolder } from '../platform/files/file-ports.ts';
import type { WokenLoop } from '../platform/base/loop.ts';
import type { Parts } from './open-parts.ts';

/** Written by the service itself: no program answers it, and no thread waits for an answer. */
const OF_SERVICE: Omit<SendRequest, 'to' | 'subject' | 'textBody' | 'accountId'> = {
  cc: [],
  bcc: [],
  htmlBody: null,
  inReplyTo: null,
  threadId: null,
  customerId: null,
  companyId: null,
  attachments: [],
  respondAsync: true,
  sendAt: null,
  priority: null,
  lane: null,
  autoSubmitted: 'auto-generated',
  replyTo: [],
  fromName: null,
  headers: {},
  tags: [],
  metadata: {},
  unsubscribeList: null,
  authorKeyId: null,
  isByPerson: false,
  template: null,
};

/** null: the configuration names no address. */
export function startNotices(
  { config, registry, spool, logger, pool }: Pick<Parts, 'config' | 'registry' | 'spool' | 'logger' | 'pool'>,
  ports: SendOncePorts,
): WokenLoop | null {
  const { notifyAddress } = config;
  if (notifyAddress === null) return null;
  return startNotifier({
    failing: createFailingAccounts(pool),
    accounts: () => registry.working.map(({ id, smtpUrl }) => ({ id, isDelivering: smtpUrl !== null })),
    async send(key, { accountId, subject, text }) {
      const request = { ...OF_SERVICE, to: [notifyAddress], subject, textBody: text, accountId };
      const keyed = {
        queued: true,
        // Of the failure alone: another process may know another account to send it by.
        fingerprint: async () => createHash('sha256').update(key).digest(),
        send: (folder: SpoolFolder, emailId: string) => ports.send(request, folder, emailId),
      };
      await carryOutOnce(ports, key, keyed, spool.create());
    },
    logger,
  });
}
