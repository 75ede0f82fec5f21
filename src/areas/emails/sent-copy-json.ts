/** The copy of an email in its Sent mailbox, as JSON of a statement and as the API shows it. */
import type { SentCopyView } from '../../core/sent-copies/sent-copy.ts';
import { columnsOf, jsonObject, type JsonOf } from '../../platform/db/json.ts';

/** The view of a copy `c`, for toSentCopyView. */
export const SENT_COPY = jsonObject('sent-copy-json', {
  from: 'sent_copies c',
  columns: {
    ...columnsOf('c', 'state', 'tries', 'last_error', 'path'),
    at: 'coalesce(c.ended_at, c.due_at)',
  },
}).narrow<{ at: string }>();
export type SentCopyJson = JsonOf<typeof SENT_COPY>;

export const toSentCopyView = ({
  state,
  at,
  tries,
  last_error: error,
  path: mailbox,
}: SentCopyJson): SentCopyView => ({
  state,
  at: new Date(at),
  tries,
  error,
  mailbox,
});
