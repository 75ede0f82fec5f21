/** JSON schemas of lists of emails, and of the parts of an email. */
import { State } from '../../platform/schemas/state-schema.ts';
import { PROTECTIONS } from '../../core/mime/parse/parsed-message.ts';
import type { XStatic } from 'typebox/schema';
import { WRITERS } from '../../core/delivery/writer.ts';
import { AUTOMATIC_KINDS } from '../../core/delivery/automatic.ts';
import { BOUNCE_ACTIONS } from '../../core/delivery/bounce-recipient.ts';
import { BOUNCE_FORMATS, BOUNCE_KINDS } from '../../core/delivery/bounce.ts';
import { BOUNCE_SEVERITIES } from '../../core/delivery/failure-severity.ts';
import { REPORT_OUTCOMES } from '../../core/delivery/delivery-report.ts';
import { ATTEMPT_OUTCOMES } from '../../core/delivery/states.ts';
import {
  emailProperties,
  EnhancedStatus,
  NullableTimestamp,
  NullableUuid,
  record,
  Timestamp,
  Uuid,
} from '../../platform/schemas/schemas.ts';
import { NullableKeyAuthor } from '../../platform/schemas/author.ts';
import { NullableVerdict } from './authentication-schema.ts';
import { pageSchema } from '../../platform/schemas/page-schemas.ts';

export const SmtpReply = record('SmtpReply', {
  code: { type: 'integer', minimum: 200, maximum: 599 },
  enhanced_status: EnhancedStatus,
  text: { type: 'string' },
});

export const Attempt = record('Attempt', {
  number: { type: 'integer', minimum: 1 },
  started_at: Timestamp,
  ended_at: { ...NullableTimestamp, description: 'End of the attempt; null when unknown.' },
  outcome: { type: 'string', enum: ATTEMPT_OUTCOMES },
  reply: {
    anyOf: [SmtpReply, { type: 'null' }],
    description: 'The decisive reply of the mail server; null when there was none.',
  },
  detail: { type: 'string', description: 'English.' },
});

/** The progress of sending an email. */
export const stateProperties = {
  state: State,
  state_detail: {
    type: ['string', 'null'],
    description:
      'In English: the reason for `failed`, `unknown` and `deferred`, what is missing for a `sent` email, or that another program sent it.',
  },
  next_attempt_at: {
    ...NullableTimestamp,
    description: 'Time of the next attempt; null when the email is not in the queue or is being sent.',
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

/** The notes that a send attached to an email. */
export const noteProperties = {
  tags: { type: 'array', items: { type: 'string' }, description: 'As in the send request.' },
  metadata: {
    title: 'Metadata',
    type: 'object',
    additionalProperties: true,
    $comment: 'The JSON object of the send request.',
  },
} as const;

export const ListId = {
  type: ['string', 'null'],
  description:
    'List-Id (RFC 2919) of the mailing list that delivered the email, in lower case without angle brackets; null when there is none.',
} as const;

export const EmailAuthor = {
  ...NullableKeyAuthor,
  description:
    'Id of the key that sent it; null for `API_SECRET`, for a received email and for an email that another program sent.',
} as const;

/** An email in the list over all threads: the fields of a list and its progress. */
const EmailListingSchema = record('EmailListing', {
  ...emailProperties,
  ...stateProperties,
  thread_id: Uuid,
  account_id: { type: 'string' },
  authentication: NullableVerdict,
  ...noteProperties,
  list_id: ListId,
  author: EmailAuthor,
});
/** One page of the list over all threads. */
export const EmailListings = pageSchema('EmailListings', 'emails', EmailListingSchema);
export type EmailListingJson = XStatic<typeof EmailListingSchema>;

export const Automatic = record('Automatic', {
  kind: { type: 'string', enum: AUTOMATIC_KINDS },
  evidence: { type: 'string', description: 'The mark, such as `auto-submitted: auto-replied`.' },
  suppress_replies: { type: 'boolean', description: 'True when automatic replies are forbidden.' },
});

export const WrittenBy = {
  title: 'NullableWriter',
  type: ['string', 'null'],
  enum: [...WRITERS, null],
  description:
    'Who wrote a received email; null for a sent one. `machine`: a program that declares itself, an answer that only repeats ' +
    'the subject of ours, or a newsletter of a stranger; it leaves a done thread done, and waits for no answer. `unsure`: a ' +
    'person or a program; treated as a person, and so it opens its thread and waits for an answer.',
} as const;

export const NullableProtection = {
  title: 'NullableProtection',
  type: ['string', 'null'],
  enum: [...PROTECTIONS, null],
  description:
    'A received email that is signed or encrypted by S/MIME or PGP; null for any other. Signatures are not verified. The text of ' +
    'an encrypted email is a sentence about this; its content stays among the attachments and in the raw message.',
} as const;

export const Report = record('DeliveryReport', {
  outcome: {
    type: 'string',
    enum: REPORT_OUTCOMES,
    description:
      '`bounced_hard`: the address does not accept mail. `bounced_soft`: not delivered for another reason. `blocked`: refused ' +
      'because of the content, the sender or a policy. `complained`: the recipient reported it as spam.',
  },
  enhanced_status: EnhancedStatus,
  diagnostic: { type: 'string', description: 'Reply of the refusing server; may be empty.' },
  reported_at: Timestamp,
  email_id: { ...Uuid, description: 'The received email that is the report.' },
});

export const BounceSchema = record('Bounce', {
  kind: { type: 'string', enum: BOUNCE_KINDS },
  format: { type: 'string', enum: BOUNCE_FORMATS },
  email_id: {
    ...NullableUuid,
    description: 'Id of the sent email that the report is about; null when the report proves no email.',
  },
  recipients: {
    type: 'array',
    items: record('BounceRecipient', {
      address: {
        type: 'string',
        description: 'Address in the report; empty when the report names no recipient.',
      },
      final_address: {
        type: ['string', 'null'],
        description: 'The address as the last server saw it, when it differs.',
      },
      action: { type: 'string', enum: BOUNCE_ACTIONS },
      severity: { type: ['string', 'null'], enum: [...BOUNCE_SEVERITIES, null] },
      enhanced_status: EnhancedStatus,
      diagnostic: { type: 'string' },
    }),
  },
});

export const AutomaticKind = {
  title: 'AutomaticKind',
  type: ['string', 'null'],
  enum: [...AUTOMATIC_KINDS, null],
  $comment: 'Its marks of mail that programs write or that goes to many; null without any.',
} as const;
