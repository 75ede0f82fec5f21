/** Schemas of the status, the assignee and the labels of a thread, for its record and the list. */
import { TRIMMED_LINE_PATTERN } from '../../core/one-line.ts';
import { MAX_LABEL_CHARS, THREAD_STATUSES, type ThreadWork } from '../../core/thread/thread-work.ts';
import { KeyId } from './right.ts';

export const UndeliveredCount = {
  type: 'integer',
  minimum: 0,
  description:
    'Sends that failed, are unclear, were refused for some recipients, or bounced, and that were not dealt with. The thread is ' +
    'open as long as there is one.',
} as const;

export const ThreadStatusText = {
  title: 'ThreadStatus',
  $comment:
    '`done`: nothing is left to do. `spam`: kept apart, and not deleted. A new email from a person reopens the thread, unless it is spam and its sender is blocked.',
  type: 'string',
  enum: THREAD_STATUSES,
} as const;

export const ThreadLabel = {
  title: 'ThreadLabel',
  type: 'string',
  minLength: 1,
  maxLength: MAX_LABEL_CHARS,
  pattern: TRIMMED_LINE_PATTERN,
} as const;

export const NullableAssignee = {
  ...KeyId,
  title: 'Assignee',
  $comment: 'Id of the key that the thread is assigned to; null: not assigned.',
  type: ['string', 'null'],
} as const;

/** For the list and the record. */
export const workProperties = {
  status: ThreadStatusText,
  assignee: NullableAssignee,
  assignee_name: {
    type: ['string', 'null'],
    description: 'Name of the assignee, also after its key was revoked; null: not assigned.',
  },
  labels: { type: 'array', items: ThreadLabel, description: 'Sorted.' },
} as const;

export const toWorkJson = ({ status, assignee, assigneeName, labels }: ThreadWork) => ({
  status,
  assignee,
  assignee_name: assigneeName,
  labels: [...labels],
});
