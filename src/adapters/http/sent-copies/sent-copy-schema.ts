/** The copy of a sent email in the Sent mailbox of its account, as JSON. */
import type { XStatic } from 'typebox/schema';
import { SENT_COPY_STATES, type SentCopyView } from '../../../core/sent-copies/sent-copy.ts';
import { record, Timestamp } from '../schemas/schemas.ts';

export const SentCopy = record('SentCopy', {
  state: {
    type: 'string',
    enum: SENT_COPY_STATES,
    description: '`failed`: it was given up; `POST /api/emails/{id}/sent-copy/retry` has it tried again.',
  },
  at: { ...Timestamp, description: 'When it was stored, given up, or is tried next.' },
  tries: { type: 'integer', minimum: 0, description: 'That failed.' },
  error: {
    type: ['string', 'null'],
    description: 'For people: what stood in the way the last time; null when nothing did.',
  },
  mailbox: { type: ['string', 'null'], description: 'Where it is; null while it is not stored.' },
});

export const toSentCopyJson = ({
  state,
  at,
  tries,
  error,
  mailbox,
}: SentCopyView): XStatic<typeof SentCopy> => ({ state, at: at.toISOString(), tries, error, mailbox });
