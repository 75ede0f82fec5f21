/**
 * Assigns a thread to each group of emails and Message-IDs: threads keep their identifiers as far as possible, and the
 * necessary moves are listed. Changes nothing when the groups already are the threads.
 */

export interface KnownThread {
  readonly id: string;
  readonly createdAt: Date;
}

/** An email or a Message-ID with its present thread; null: none yet. */
export interface Placed {
  readonly id: string;
  readonly threadId: string | null;
  readonly group: number;
}

export interface ThreadPlan {
  /** Group → thread. Groups without emails that have no thread of their own are missing. */
  readonly threadOf: ReadonlyMap<number, string>;
  /** Threads to create. */
  readonly made: readonly string[];
  /** Threads that end; everything in them goes to the survivor, or moves elsewhere. */
  readonly merged: readonly { readonly id: string; readonly into: string }[];
  readonly emails: readonly Move[];
  readonly messageIds: readonly Move[];
}

export interface Move {
  readonly id: string;
  readonly from: string | null;
  readonly to: string;
}

/**
 * `emails` in the order in which they were recorded. Each thread stays with its first email; of several threads that come
 * together the oldest survives. A group without a thread gets a new one, with an id from `newThreadId`.
 */
export function planThreads(
  threads: readonly KnownThread[],
  emails: readonly Placed[],
  messageIds: readonly Placed[],
  newThreadId: (firstEmail: Placed) => string,
): ThreadPlan {
  const groupOf = new Map<string, number>();
  for (const { threadId, group } of [...emails, ...messageIds]) {
    if (threadId !== null && !groupOf.has(threadId)) groupOf.set(threadId, group);
  }
  const threadOf = new Map<number, string>();
  const merged: { id: string; into: string }[] = [];
  for (const { id } of threads.toSorted(byAge)) {
    const group = groupOf.get(id);
    if (group === undefined) continue;
    const survivor = threadOf.get(group);
    if (survivor === undefined) threadOf.set(group, id);
    else merged.push({ id, into: survivor });
  }
  const made: string[] = [];
  for (const email of emails) {
    if (threadOf.has(email.group)) continue;
    const id = newThreadId(email);
    threadOf.set(email.group, id);
    made.push(id);
  }
  return {
    threadOf,
    made,
    merged,
    emails: movesOf(emails, threadOf),
    messageIds: movesOf(messageIds, threadOf),
  };
}

function byAge(a: KnownThread, b: KnownThread): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}

function movesOf(placed: readonly Placed[], threadOf: ReadonlyMap<number, string>): readonly Move[] {
  return placed.flatMap(({ id, threadId, group }) => {
    const to = threadOf.get(group);
    return to === undefined || to === threadId ? [] : [{ id, from: threadId, to }];
  });
}
