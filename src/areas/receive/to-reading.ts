/** The reading of a received message for the account, as it is recorded. */
import type { IsOwnAddress, Sender } from '../../core/accounts/sender-addresses.ts';
import { addrSpec } from '../../core/address/address.ts';
import type { MessageIdentity } from '../../core/message/identity.ts';
import { readListId } from '../../core/message/list-id.ts';
import { withoutAddresses } from '../../core/message/references.ts';
import { suggestCounterparty } from '../../core/message/suggested-counterparty.ts';
import { readThreadIndex } from '../../core/message/thread-index.ts';
import { fieldValue } from '../../core/mime/parse/header-fields.ts';
import { meetingKeysOf } from '../../core/thread/meeting-points.ts';
import { inboundLinks } from '../../core/thread/place-inbound.ts';
import type { ReceivedMessage } from '../../platform/reading/reading-ports.ts';
import type { InboundRecord } from './inbound-ports.ts';

type ReadFields =
  | 'links'
  | 'meetingKeys'
  | 'writtenMessageId'
  | 'otherMessageId'
  | 'inReplyTo'
  | 'references'
  | 'threadIndex'
  | 'listId'
  | 'from'
  | 'sender'
  | 'replyTo'
  | 'to'
  | 'cc'
  | 'bcc'
  | 'subject'
  | 'textBody'
  | 'htmlBody'
  | 'replyText'
  | 'date'
  | 'defects'
  | 'protection'
  | 'invitation'
  | 'automatic'
  | 'report'
  | 'aggregate'
  | 'suggestedCounterparty';

/**
 * @param receivedAt replaces a Date that is missing or can't be read
 * @param isOwn an address of one of all accounts
 */
export function toReading(
  { message, replyText, automatic, bounce, aggregate, forwardedFrom }: ReceivedMessage,
  { messageId }: MessageIdentity,
  receivedAt: Date,
  account: Sender | undefined,
  isOwn: IsOwnAddress,
): Pick<InboundRecord, ReadFields> {
  // A message may name an address of the account without being addressed to it.
  const own =
    account === undefined
      ? []
      : [account.from, ...(account.addresses ?? []).map(({ address }) => address)].map(addrSpec);
  const inReplyTo = withoutAddresses(message.inReplyTo, own);
  const references = withoutAddresses(message.references, own);
  const { writtenMessageId, otherMessageId } = message;
  const suggestedCounterparty =
    account === undefined ? null : suggestCounterparty(message, forwardedFrom, account, isOwn);
  return {
    links: inboundLinks(messageId, { inReplyTo, references, otherMessageId }, bounce),
    meetingKeys:
      account === undefined
        ? []
        : meetingKeysOf(
            {
              suggested: suggestedCounterparty?.address ?? null,
              // A form writes in its own name, and has the person in Reply-To.
              from: [...message.replyTo, ...message.from],
              recipients: [...message.to, ...message.cc, ...message.bcc],
              messageId,
            },
            account.from,
          ),
    writtenMessageId,
    otherMessageId,
    inReplyTo,
    references,
    threadIndex: readThreadIndex(fieldValue(message.fields, 'thread-index')),
    listId: readListId(message.fields),
    from: message.from[0] ?? null,
    sender: message.sender,
    replyTo: message.replyTo,
    to: message.to,
    cc: message.cc,
    bcc: message.bcc,
    subject: message.subject,
    textBody: message.text,
    htmlBody: message.html,
    replyText: replyText ?? message.text,
    date: message.date ?? receivedAt,
    defects: message.defects,
    protection: message.protection,
    invitation: message.invitation,
    automatic,
    aggregate,
    report: bounce === null ? null : { ...bounce, reportedAt: message.date ?? receivedAt },
    suggestedCounterparty,
  };
}
