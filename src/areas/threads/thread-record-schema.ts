/** The record of a thread in the API. */
import { AddressObject, NullableUuid, record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';
import { UndeliveredCount, workProperties } from '../../platform/schemas/thread-schemas.ts';
import { THREAD_COMPANY_SOURCES, THREAD_CUSTOMER_SOURCES } from './thread-record-ports.ts';

export const ThreadRecordSchema = record('ThreadRecord', {
  id: { ...Uuid, description: 'Differs from the requested id when that thread was merged into this one.' },
  account_id: { type: 'string' },
  subject: { type: 'string', description: 'Subject of the first email.' },
  customer_id: NullableUuid,
  customer_source: {
    type: ['string', 'null'],
    enum: [...THREAD_CUSTOMER_SOURCES, null],
    description:
      '`operator`: set by hand. `explicit`: taken from the first send that named a customer. `address`, `domain`: found by a rule.',
  },
  company_id: NullableUuid,
  company_source: { type: ['string', 'null'], enum: [...THREAD_COMPANY_SOURCES, null] },
  participants: {
    type: 'array',
    items: AddressObject,
    maxItems: 10,
    description: 'Senders, then recipients, of the newest 20 emails; each address once.',
  },
  email_count: {
    type: 'integer',
    minimum: 0,
    description: 'Does not count emails that were not sent (`failed`, `cancelled`).',
  },
  unread_count: { type: 'integer', minimum: 0 },
  unanswered: { type: 'boolean', description: 'The newest email that no machine wrote is inbound.' },
  undelivered: UndeliveredCount,
  has_attachments: { type: 'boolean' },
  ...workProperties,
  first_activity_at: Timestamp,
  last_activity_at: Timestamp,
  version: {
    type: 'integer',
    minimum: 1,
    description: 'Version for `If-Match`. It changes with status, assignee, labels, customer and company.',
  },
});
