/** Schemas of the status, the assignee and the labels of a thread, for its record and the list. */
import {
  MAX_ASSIGNEE_CHARS,
  MAX_LABEL_CHARS,
  THREAD_STATUSES,
  type ThreadRecord,
} from '../../../app/threads/thread-record-ports.ts';
import { TRIMMED_LINE_PATTERN } from '../../../core/one-line.ts';

export const UndeliveredCount = {
  type: 'integer',
  minimum: 0,
  description:
    'Sends that failed, are unclear, were refused for some recipients, or bounced, and that were not dealt with. The thread is ' +
    'open as long as there is one.',
} as const;

export const ThreadStatusText = {
  title: 'ThreadStatus',
  $comment: '`done`: nothing is left to do. A new email from a person reopens the thread.',
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

/** For a filter. */
export const AssigneeName = {
  title: 'AssigneeName',
  type: 'string',
  minLength: 1,
  maxLength: MAX_ASSIGNEE_CHARS,
  pattern: TRIMMED_LINE_PATTERN,
} as const;

export const Assignee = {
  ...AssigneeName,
  title: 'Assignee',
  $comment: 'Assignee of the thread: a name or an identifier chosen by the caller; null: not assigned.',
  type: ['string', 'null'],
} as const;

/** For the list and the record. */
export const workProperties = {
  status: ThreadStatusText,
  assignee: Assignee,
  labels: { type: 'array', items: ThreadLabel, description: 'Sorted.' },
} as const;

export const toWorkJson = ({
  status,
  assignee,
  labels,
}: Pick<ThreadRecord, 'status' | 'assignee' | 'labels'>) => ({
  status,
  assignee,
  labels: [...labels],
});
