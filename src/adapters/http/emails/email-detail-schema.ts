/**
 * JSON schema of one email with everything known about it.
 */
import type { XStatic } from 'typebox/schema';
import { COMPANY_SOURCES, CUSTOMER_SOURCES } from '../../../core/customer/link-emails.ts';
import { AUTOMATIC_KINDS } from '../../../core/delivery/automatic.ts';
import { BOUNCE_ACTIONS } from '../../../core/delivery/bounce-recipient.ts';
import { BOUNCE_FORMATS, BOUNCE_KINDS } from '../../../core/delivery/bounce.ts';
import { BOUNCE_SEVERITIES } from '../../../core/delivery/failure-severity.ts';
import { REPORT_OUTCOMES } from '../../../core/delivery/delivery-report.ts';
import { ATTEMPT_OUTCOMES, DELIVERY_STATES, EMAIL_STATES } from '../../../core/delivery/states.ts';
import {
  AddressObject,
  emailProperties,
  EnhancedStatus,
  MessageIdText,
  NullableTimestamp,
  NullableUuid,
  record,
  Timestamp,
  Uuid,
} from '../schemas/schemas.ts';
import { pageSchema } from '../schemas/page-schemas.ts';
import { NullableSource, Variant } from './variant-schema.ts';

const SmtpReply = record('SmtpReply', {
  code: { type: 'integer', minimum: 200, maximum: 599 },
  enhanced_status: EnhancedStatus,
  text: { type: 'string' },
});

const Attempt = record('Attempt', {
  number: { type: 'integer', minimum: 1 },
  started_at: Timestamp,
  ended_at: { ...NullableTimestamp, description: 'null when the end was not seen.' },
  outcome: { type: 'string', enum: ATTEMPT_OUTCOMES },
  reply: {
    anyOf: [SmtpReply, { type: 'null' }],
    description: 'The reply that decided; null when there was none.',
  },
  detail: { type: 'string', description: 'English.' },
});

export const State = { title: 'EmailState', type: 'string', enum: EMAIL_STATES } as const;

/** How far the sending of an email is. */
const stateProperties = {
  state: State,
  state_detail: {
    type: ['string', 'null'],
    description:
      'English reason of `failed`, `unknown` and `deferred`, what a `sent` email lacks, and that another program sent it.',
  },
  next_attempt_at: {
    ...NullableTimestamp,
    description: 'When it is sent or tried next; null when it is not in the queue, or being sent.',
  },
} as const;

export const PLACEMENT_RULES = [
  'thread_id',
  'in_reply_to',
  'references',
  'message_id',
  'bounce',
  'subject',
  'decision',
  'new',
] as const;
export const PlacementRule = { title: 'PlacementRule', type: 'string', enum: PLACEMENT_RULES } as const;

/** An email in the list over all threads: the fields of a list and how far it is. */
const EmailListingSchema = record('EmailListing', {
  ...emailProperties,
  ...stateProperties,
  thread_id: Uuid,
  account_id: { type: 'string' },
});
/** One page of the list over all threads. */
export const EmailListings = pageSchema('EmailListings', 'emails', EmailListingSchema);
export type EmailListingJson = XStatic<typeof EmailListingSchema>;

const Automatic = record('Automatic', {
  kind: { type: 'string', enum: AUTOMATIC_KINDS },
  evidence: { type: 'string', description: 'What told it, such as `auto-submitted: auto-replied`.' },
  suppress_replies: { type: 'boolean', description: 'No machine may answer it.' },
});

const Report = record('DeliveryReport', {
  outcome: {
    type: 'string',
    enum: REPORT_OUTCOMES,
    description:
      '`bounced_hard`: the address takes no mail. `bounced_soft`: not delivered, for another reason. `blocked`: ' +
      'refused for its contents, its sender or a policy. `complained`: the reader called it spam.',
  },
  enhanced_status: EnhancedStatus,
  diagnostic: { type: 'string', description: 'What the refusing server said; may be empty.' },
  reported_at: Timestamp,
  email_id: { ...Uuid, description: 'The received email that is the report.' },
});

const BounceSchema = record('Bounce', {
  kind: { type: 'string', enum: BOUNCE_KINDS },
  format: { type: 'string', enum: BOUNCE_FORMATS },
  email_id: {
    ...NullableUuid,
    description: 'The sent email that it is about; null when it proves nothing about any.',
  },
  recipients: {
    type: 'array',
    items: record('BounceRecipient', {
      address: { type: 'string', description: 'Empty when the report names no recipient.' },
      final_address: {
        type: ['string', 'null'],
        description: 'As the last server saw it, where that is another.',
      },
      action: { type: 'string', enum: BOUNCE_ACTIONS },
      severity: { type: ['string', 'null'], enum: [...BOUNCE_SEVERITIES, null] },
      enhanced_status: EnhancedStatus,
      diagnostic: { type: 'string' },
    }),
  },
});

/** The fields of a list and everything else that is known. */
export const EmailDetail = record('EmailDetail', {
  ...emailProperties,
  thread_id: Uuid,
  account_id: { type: 'string' },
  customer_id: NullableUuid,
  customer_source: {
    type: ['string', 'null'],
    enum: [...CUSTOMER_SOURCES, null],
    description:
      '`explicit`: its send named it. `thread`: its thread belongs to it. `address`, `domain`: by that of the ' +
      'counterparty. `ambiguous`: several customers claim it, so it has none.',
  },
  company_id: NullableUuid,
  company_source: {
    type: ['string', 'null'],
    enum: [...COMPANY_SOURCES, null],
    description: '`registration`: the company that was registered for its customer.',
  },
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
  ...stateProperties,
  recipients: {
    type: 'array',
    items: record('Recipient', {
      address: { type: 'string' },
      state: { type: 'string', enum: DELIVERY_STATES },
      reply: {
        anyOf: [SmtpReply, { type: 'null' }],
        description: 'What the mail server said for this recipient; null when no reply came.',
      },
      report: {
        anyOf: [Report, { type: 'null' }],
        description:
          'What came back later about this recipient, the most telling of several; null when nothing did.',
      },
    }),
  },
  placement: {
    ...record('Placement', {
      rule: {
        ...PlacementRule,
        description:
          '`thread_id`: the caller said so. `decision`: an operator split it off or moved it. `new`: nothing to ' +
          'join. The others are by Message-ID: what it answers (`in_reply_to`, `references`), what a delivery ' +
          'report returns (`bounce`), an earlier email of the same subject (`subject`), or its own ' +
          '(`message_id`), which another email has or names.',
      },
      matched_message_id: { type: ['string', 'null'] },
    }),
    description: 'Why the email is in its thread.',
  },
  reply_text: {
    type: ['string', 'null'],
    description:
      'The new text of a received email, or of one that another program sent, without what it quotes; null for others.',
  },
  sender_address: {
    anyOf: [AddressObject, { type: 'null' }],
    description: 'The field Sender of a received email.',
  },
  reply_to_addresses: { type: 'array', items: AddressObject },
  new_participant: {
    type: 'boolean',
    description: 'The sender of a received email never took part in its thread before.',
  },
  unread: {
    type: 'boolean',
    description: 'A received email that was not marked as read; false for a sent one.',
  },
  automatic: {
    anyOf: [Automatic, { type: 'null' }],
    description: 'How the email shows that no person wrote it; null when it does not.',
  },
  bounce: {
    anyOf: [BounceSchema, { type: 'null' }],
    description: 'What a received delivery report or complaint says; null for any other email.',
  },
  defects: {
    type: 'array',
    items: { type: 'string' },
    description:
      'What was wrong with a received email, such as `missing_date`, and `content_differs` where it has variants. New ' +
      'ones may come.',
  },
  received_by: NullableSource,
  variants: {
    type: 'array',
    description:
      'Messages with the same Message-ID, Date, From and subject that say something else, such as a copy with the ' +
      'footer of a list, or a forgery; the oldest first. Which of them the email itself says is what came first.',
    items: Variant,
  },
  refused_variants: {
    type: 'integer',
    minimum: 0,
    description: 'Further such messages, which are not kept: an email has 100 variants at most.',
  },
  size_bytes: { type: 'integer', minimum: 0, description: 'Size of the raw message.' },
  created_at: Timestamp,
  attempts: {
    type: 'array',
    description: 'Every hand-over to the mail server, in order; numbers may have gaps.',
    items: Attempt,
  },
  next_attempt_at: stateProperties.next_attempt_at,
  give_up_at: {
    ...NullableTimestamp,
    description: 'After this it is not tried again; null when it is not in the queue.',
  },
});
export type EmailDetailJson = XStatic<typeof EmailDetail>;
