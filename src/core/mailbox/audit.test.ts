import { describe, expect, it } from 'vitest';
import { toMessageId } from '../message/message-id.ts';
import { auditMessage, type AuditedMessage } from './audit.ts';

const id = toMessageId('1@example.com')!;
const relayed = toMessageId('2@example.com')!;
const known = (fields: Partial<AuditedMessage> = {}): AuditedMessage => ({
  uid: 1,
  isGone: false,
  email: { id: 'e', messageIds: [id] },
  ...fields,
});

describe('a message under audit', () => {
  it.each([
    ['is in order', known(), true, id, null],
    ['is in order without a Message-ID', known(), true, null, null],
    [
      'is in order under the Message-ID of the relay',
      known({ email: { id: 'e', messageIds: [id, relayed] } }),
      true,
      relayed,
      null,
    ],
    ['is in order while it waits', known({ email: null }), true, id, null],
    ['is in order when it is gone and marked so', known({ isGone: true }), false, null, null],
    ['is no message when neither side has it', null, false, null, null],
    ['is missing', null, true, id, 'missing'],
    ['has lost its email', known({ email: 'lost' }), true, id, 'lost'],
    ['has the email of another', known(), true, relayed, 'other'],
    ['is marked as gone', known({ isGone: true, email: 'lost' }), true, id, 'marked_gone'],
    ['is gone without a mark', known({ email: null }), false, null, 'not_marked'],
  ] as const)('%s', (_title, record, isInMailbox, messageId, expected) => {
    expect(auditMessage({ known: record, isInMailbox, messageId })).toBe(expected);
  });
});
