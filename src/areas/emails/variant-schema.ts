/** JSON schema of variants: messages that are an email in other bytes. */
import type { XStatic } from 'typebox/schema';
import { MAIL_WAYS } from '../../core/message/mail-source.ts';
import { record, Timestamp, Uuid } from '../../platform/schemas/schemas.ts';

const Source = record('ReceivedBy', {
  way: { type: 'string', enum: MAIL_WAYS },
  place: {
    type: ['string', 'null'],
    description: 'For IMAP the mailbox; for an import `maildir`, `mbox` or `file`; otherwise null.',
  },
});

export const NullableSource = {
  anyOf: [Source, { type: 'null' }],
  description: 'How the message arrived; null for a sent email and when unknown.',
} as const;

const variantProperties = {
  id: Uuid,
  received_at: Timestamp,
  received_by: NullableSource,
  sent_copy: {
    type: 'boolean',
    description:
      'True for a copy of an email that was sent from the account, such as one in the Sent mailbox.',
  },
  size_bytes: { type: 'integer', minimum: 0, description: 'Size of the raw message.' },
  content_digest: {
    title: 'Sha256',
    type: 'string',
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 of texts and attachments, independent of the route of delivery.',
  },
  same_content: {
    type: 'boolean',
    description: 'True when texts and attachments are those of the email, and only the bytes differ.',
  },
} as const;

export const Variant = record('Variant', variantProperties);

export const VariantDetailSchema = record('VariantDetail', {
  ...variantProperties,
  text_body: { type: 'string', description: 'Its text, read as that of an email.' },
});
export type VariantDetailJson = XStatic<typeof VariantDetailSchema>;
