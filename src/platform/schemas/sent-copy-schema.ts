/** The copy of a sent email in the Sent mailbox of its account. */
import { SENT_COPY_STATES } from '../../core/sent-copies/sent-copy.ts';
import { record, Timestamp } from './schemas.ts';

export const SentCopy = record('SentCopy', {
  state: {
    type: 'string',
    enum: SENT_COPY_STATES,
    description: '`failed`: given up; `POST /api/emails/{id}/sent-copy/retry` retries it.',
  },
  at: { ...Timestamp, description: 'When the copy was stored or given up, or the time of the next attempt.' },
  tries: { type: 'integer', minimum: 0, description: 'Number of failed attempts.' },
  error: {
    type: ['string', 'null'],
    description: 'The last error, for people to read; null when there is none.',
  },
  mailbox: {
    type: ['string', 'null'],
    description: 'Mailbox that contains the copy; null while it is not stored.',
  },
});
