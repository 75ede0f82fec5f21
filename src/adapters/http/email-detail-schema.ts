/**
 * JSON schema of one email with everything known about it.
 */
import type { XStatic } from 'typebox/schema';
import { DELIVERY_STATES, EMAIL_STATES } from '../../core/delivery/states.ts';
import { AddressObject, emailFields, emailProperties, MessageIdText, Timestamp, Uuid } from './schemas.ts';

const NullableUuid = { ...Uuid, type: ['string', 'null'] } as const;

const SmtpReply = {
  type: 'object',
  title: 'SmtpReply',
  additionalProperties: false,
  required: ['code', 'enhanced_status', 'text'],
  properties: {
    code: { type: 'integer', minimum: 200, maximum: 599 },
    enhanced_status: { type: ['string', 'null'], description: 'RFC 3463, such as `5.1.1`.' },
    text: { type: 'string' },
  },
} as const;

/** The fields of a list and everything else that is known. */
export const EmailDetail = {
  type: 'object',
  title: 'EmailDetail',
  additionalProperties: false,
  required: [
    ...emailFields,
    'thread_id',
    'account_id',
    'customer_id',
    'company_id',
    'cc_addresses',
    'bcc_addresses',
    'html_body',
    'in_reply_to',
    'references',
    'relay_message_id',
    'state',
    'state_detail',
    'recipients',
    'placement',
    'size_bytes',
    'created_at',
  ],
  properties: {
    ...emailProperties,
    thread_id: Uuid,
    account_id: { type: 'string' },
    customer_id: NullableUuid,
    company_id: NullableUuid,
    cc_addresses: { type: 'array', items: AddressObject },
    bcc_addresses: { type: 'array', items: AddressObject },
    html_body: { type: ['string', 'null'], description: 'As sent or received, not sanitised.' },
    in_reply_to: { type: 'array', items: MessageIdText },
    references: { type: 'array', items: MessageIdText, description: 'Oldest first.' },
    relay_message_id: {
      type: ['string', 'null'],
      description:
        'The Message-ID that the mail server gave the email instead of ours; null when it kept ours.',
    },
    state: { type: 'string', enum: EMAIL_STATES },
    state_detail: { type: ['string', 'null'], description: 'English reason of `failed` and `unknown`.' },
    recipients: {
      type: 'array',
      items: {
        type: 'object',
        title: 'Recipient',
        additionalProperties: false,
        required: ['address', 'state', 'reply'],
        properties: {
          address: { type: 'string' },
          state: { type: 'string', enum: DELIVERY_STATES },
          reply: {
            anyOf: [SmtpReply, { type: 'null' }],
            description: 'What the mail server said for this recipient; null when no reply came.',
          },
        },
      },
    },
    placement: {
      type: 'object',
      title: 'Placement',
      description: 'Why the email is in its thread.',
      additionalProperties: false,
      required: ['rule', 'matched_message_id'],
      properties: {
        rule: { type: 'string', enum: ['thread_id', 'in_reply_to', 'new'] },
        matched_message_id: { type: ['string', 'null'] },
      },
    },
    size_bytes: { type: 'integer', minimum: 0, description: 'Size of the raw message.' },
    created_at: Timestamp,
  },
} as const;
export type EmailDetailJson = XStatic<typeof EmailDetail>;
