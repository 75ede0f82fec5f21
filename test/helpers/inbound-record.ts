/** Records of received emails for tests of the store. */
import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { InboundRecord } from '../../src/areas/receive/inbound-ports.ts';
import type { MessageId } from '../../src/core/message/message-id.ts';
import type { InboundLink } from '../../src/core/thread/place-inbound.ts';
import { addressOf, newMessageId } from './outbound-record.ts';

/** A received email that starts a conversation, or answers `parents`; `fields` override the values that a test is about. */
export function inboundRecord(
  fields: Partial<InboundRecord> = {},
  parents: readonly MessageId[] = [],
): InboundRecord {
  const raw = Buffer.from('Subject: Anfrage\r\n\r\nGuten Tag\r\n');
  const messageId = newMessageId();
  const from = addressOf('ada');
  const date = new Date('2026-03-01T12:00:00Z');
  const subject = fields.subject ?? 'Anfrage';
  const links: InboundLink[] = [
    ...parents.map((parent) => ({ rule: 'in_reply_to', messageId: parent }) as const),
    { rule: 'message_id', messageId },
  ];
  return {
    id: uuidv7(),
    accountId: 'default',
    isSentCopy: false,
    isRead: false,
    newThreadId: uuidv7(),
    identity: { messageId, date, from: [from], subject, undated: null },
    identityKey: createHash('sha256').update(messageId).digest('hex'),
    sharedKey: null,
    links,
    meetingKeys: [fields.from?.localPart ?? 'ada'],
    writtenMessageId: null,
    otherMessageId: null,
    inReplyTo: parents,
    references: parents,
    threadIndex: null,
    listId: null,
    from,
    sender: null,
    suggestedCounterparty: null,
    replyTo: [],
    to: [addressOf('sales', 'example.com')],
    cc: [],
    bcc: [],
    subject,
    textBody: 'Guten Tag',
    htmlBody: null,
    replyText: 'Guten Tag',
    date,
    defects: [],
    protection: null,
    invitation: null,
    automatic: null,
    report: null,
    aggregate: null,
    bySubject: null,
    attachments: [],
    contentDigest: createHash('sha256').update('Guten Tag').digest('hex'),
    answers: createHash('sha256').update('').digest('hex'),
    receivedBy: null,
    authentication: null,
    rawSizeBytes: raw.length,
    raw,
    rawPath: null,
    ...fields,
  };
}
