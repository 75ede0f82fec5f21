/** What a copy of a send is compared with. */
import { addrSpec } from '../../core/address/address.ts';
import type { SentContent } from '../../core/message/sent-copy.ts';
import type { UnrecordedEmail } from './journal-ports.ts';

/** The content of a send that is not recorded yet. */
export function toSentContent(record: UnrecordedEmail['record']): SentContent {
  const toTexts = (addresses: typeof record.to) => addresses.map(addrSpec);
  return {
    messageId: record.messageId,
    date: record.date,
    from: [addrSpec(record.from)],
    subject: record.subject,
    to: toTexts(record.to),
    cc: toTexts(record.cc),
    bcc: toTexts(record.bcc),
    inReplyTo: record.inReplyTo,
    text: record.textBody,
    html: record.htmlBody,
    attachmentDigests: record.attachments.map(({ sha256 }) => sha256),
  };
}
