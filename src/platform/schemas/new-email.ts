/** An email that a writer has not seen, as the error `thread_has_moved_on` shows it. */
import type { XStatic } from 'typebox/schema';
import { MAX_NEW_EMAILS, MAX_PREVIEW_CHARS, type NewEmail } from '../../core/thread/new-email.ts';
import { AddressObject, Direction, record, Timestamp, Uuid } from './schemas.ts';

const NewEmailSchema = record('NewEmail', {
  id: Uuid,
  direction: Direction,
  from_address: AddressObject,
  author: {
    type: ['string', 'null'],
    description:
      'The name of the key that sent it; null for `API_SECRET`, and for an email that was received.',
  },
  subject: { type: 'string' },
  preview: { type: 'string', description: `The first ${MAX_PREVIEW_CHARS} characters of its text.` },
  date: Timestamp,
});

export const NewEmails = {
  type: 'array',
  maxItems: MAX_NEW_EMAILS,
  items: NewEmailSchema,
  description:
    'Of `thread_has_moved_on`: the emails that were recorded after the one in `if_newest`, the oldest first; the last ones, when there ' +
    'are more. To send all the same, name the last one in `if_newest`.',
} as const;

export const toNewEmailJson = ({ from, date, ...email }: NewEmail): XStatic<typeof NewEmailSchema> => ({
  id: email.id,
  direction: email.direction,
  from_address: from,
  author: email.author,
  subject: email.subject,
  preview: email.preview,
  date: date.toISOString(),
});
