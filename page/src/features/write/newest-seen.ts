/** The email that a writer has seen as the newest of a thread: an answer does not go out after a newer one unless the writer says so. */
import type { ThreadEmail } from 'email-worker-client';

/**
 * The email that was recorded last; its Date is the sender's, and may be anything.
 *
 * @param since when the draft that is continued was begun: what was recorded since then, its writer may not have seen. null: a new answer
 */
export function newestSeen(
  emails: readonly Pick<ThreadEmail, 'id' | 'created_at'>[],
  since: string | null,
): string | null {
  const seen = since === null ? emails : emails.filter(({ created_at: at }) => at <= since);
  const [newest] = seen.toSorted((one, other) =>
    one.created_at === other.created_at
      ? other.id < one.id
        ? -1
        : 1
      : other.created_at < one.created_at
        ? -1
        : 1,
  );
  return newest?.id ?? null;
}
