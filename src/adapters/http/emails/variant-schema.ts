/** JSON schema of variants: messages with an email's identity and different content. */
import type { XStatic } from 'typebox/schema';
import { MAIL_WAYS } from '../../../app/emails/variant-view.ts';
import { record, Timestamp, Uuid } from '../schemas/schemas.ts';

const Source = record('ReceivedBy', {
  way: { type: 'string', enum: MAIL_WAYS },
  place: {
    type: ['string', 'null'],
    description: 'By IMAP the mailbox, of an import `maildir`, `mbox` or `file`; null for the others.',
  },
});

export const NullableSource = {
  anyOf: [Source, { type: 'null' }],
  description: 'By which way the message came; null for an email of ours, and where it is not known.',
} as const;

const variantProperties = {
  id: Uuid,
  received_at: Timestamp,
  received_by: NullableSource,
  sent_copy: {
    type: 'boolean',
    description: 'It came as a copy of an email that was sent from the account, such as by the Sent mailbox.',
  },
  size_bytes: { type: 'integer', minimum: 0, description: 'Size of the raw message.' },
  content_digest: {
    title: 'Sha256',
    type: 'string',
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 of what its texts and attachments say, whatever the path they came by.',
  },
} as const;

export const Variant = record('Variant', variantProperties);

export const VariantDetailSchema = record('VariantDetail', {
  ...variantProperties,
  text_body: { type: 'string', description: 'Its text, read as that of an email.' },
});
export type VariantDetailJson = XStatic<typeof VariantDetailSchema>;
