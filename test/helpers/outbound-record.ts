/** Records of outbound emails for tests of the store. */
import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { OutboundRecord } from '../../src/areas/send/outbound-ports.ts';
import type { Address } from '../../src/core/address/address.ts';
import type { MessageId } from '../../src/core/message/message-id.ts';

export const newMessageId = (): MessageId => `${randomUUID()}@example.com` as MessageId;

export const addressOf = (localPart: string, domain = 'example.org'): Address => ({
  name: '',
  localPart,
  domain,
});

/** A sent email that starts a conversation; `fields` override the values that a test is about. */
export function outboundRecord(fields: Partial<OutboundRecord> = {}): OutboundRecord {
  const raw = Buffer.from('Subject: Hallo\r\n\r\nGuten Tag\r\n');
  return {
    id: uuidv7(),
    accountId: 'default',
    threadId: uuidv7(),
    placement: { rule: 'new', matchedMessageId: null },
    messageId: newMessageId(),
    relayMessageId: null,
    inReplyTo: [],
    references: [],
    from: addressOf('sales', 'example.com'),
    to: [addressOf('ada')],
    cc: [],
    bcc: [],
    subject: 'Hallo',
    textBody: 'Guten Tag',
    htmlBody: null,
    date: new Date('2026-03-01T12:00:00Z'),
    customerId: null,
    companyId: null,
    state: 'sent',
    stateDetail: null,
    deliveries: [
      {
        address: 'ada@example.org',
        state: 'accepted',
        reply: { code: 250, enhancedStatus: '2.0.0', text: 'ok' },
      },
    ],
    attempt: null,
    queue: null,
    attachments: [],
    rawSizeBytes: raw.length,
    raw,
    rawPath: null,
    ...fields,
  };
}

/** The same, as an answer to a Message-ID that may or may not be known. */
export function answerTo(parent: MessageId, fields: Partial<OutboundRecord> = {}): OutboundRecord {
  return outboundRecord({ inReplyTo: [parent], references: [parent], ...fields });
}
