/** What people set on a thread as they work on it. */

/** `spam`: apart from everything else, and never deleted for it. */
export const THREAD_STATUSES = ['open', 'done', 'spam'] as const;
export type ThreadStatus = (typeof THREAD_STATUSES)[number];

/** Each label is a row that the list walks. */
export const MAX_THREAD_LABELS = 20;
export const MAX_LABEL_CHARS = 64;

export interface ThreadWork {
  readonly status: ThreadStatus;
  /** The id of a key; null: not assigned. */
  readonly assignee: string | null;
  readonly assigneeName: string | null;
  /** Sorted. */
  readonly labels: readonly string[];
}
