/** JSON schemas of lists of emails, and of the parts of an email. */
import type { XStatic } from 'typebox/schema';
import { WRITERS } from '../../../core/delivery/writer.ts';
import { AUTOMATIC_KINDS } from '../../../core/delivery/automatic.ts';
import { BOUNCE_ACTIONS } from '../../../core/delivery/bounce-recipient.ts';
import { BOUNCE_FORMATS, BOUNCE_KINDS } from '../../../core/delivery/bounce.ts';
import { BOUNCE_SEVERITIES } from '../../../core/delivery/failure-severity.ts';
import { REPORT_OUTCOMES } from '../../../core/delivery/delivery-report.ts';
import { ATTEMPT_OUTCOMES, EMAIL_STATES } from '../../../core/delivery/states.ts';
import {
  emailProperties,
  EnhancedStatus,
  NullableTimestamp,
  NullableUuid,
  record,
  Timestamp,
  Uuid,
} from '../schemas/schemas.ts';
import { NullableKeyAuthor } from '../schemas/author.ts';
import { NullableVerdict } from './authentication-schema.ts';
import { pageSchema } from '../schemas/page-schemas.ts';

export const SmtpReply = record('SmtpReply', {
  code: { type: 'integer', minimum: 200, maximum: 599 },
  enhanced_status: EnhancedStatus,
  text: { type: 'string' },
});

export const Attempt = record('Attempt', {
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

/** The progress of sending an email. */
export const stateProperties = {
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

/** The notes that a send attached to an email. */
export const noteProperties = {
  tags: { type: 'array', items: { type: 'string' }, description: 'As its send gave them.' },
  metadata: {
    title: 'Metadata',
    type: 'object',
    additionalProperties: true,
    $comment: 'Any JSON object, as its send gave it.',
  },
} as const;

export const ListId = {
  type: ['string', 'null'],
  description:
    'List-Id (RFC 2919) of the mailing list that a received email came by, lower-case, without angle brackets; null for none.',
} as const;

export const EmailAuthor = {
  ...NullableKeyAuthor,
  description:
    'The key that sent it; null for `API_SECRET`, for a received email and for one that another program sent.',
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
  suppress_replies: { type: 'boolean', description: 'No machine may answer it.' },
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

export const Report = record('DeliveryReport', {
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

export const BounceSchema = record('Bounce', {
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
