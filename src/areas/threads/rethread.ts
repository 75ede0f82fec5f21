/**
 * Recomputes the threads from the stored emails and the decisions of operators, and corrects those that differ. A pass
 * over all emails finds the threads that may be wrong, in little memory (core/thread/thread-scan.ts); only these are
 * weighed link by link. Mail may arrive meanwhile: changed threads are weighed again under the lock for merging.
 */
import { ThreadScan, type ScannedEmail } from '../../core/thread/thread-scan.ts';

/** An email that belongs in another thread. */
export interface ThreadMove {
  readonly emailId: string;
  readonly messageId: string;
  readonly from: string;
  /** null: a new thread, which has no identifier until it is created. */
  readonly to: string | null;
  /** English. */
  readonly why: string;
}

/** The changes that some threads, weighed together, need. */
export interface ThreadChanges {
  readonly moves: readonly ThreadMove[];
  /** Threads that end, and the threads that get their emails and their identifier. */
  readonly merged: readonly { readonly id: string; readonly into: string }[];
  /** Message-IDs that move to another thread, or get a thread for the first time. */
  readonly messageIds: number;
}

/** The database at one moment. Pages have at most some thousand entries. */
export interface ThreadSnapshot {
  messageIds(): AsyncIterable<
    readonly {
      readonly accountId: string;
      /** Or a meeting point. */
      readonly messageId: string;
      readonly threadId: string;
      /** Of a meeting point: its Message-ID. */
      readonly waitsFor: string | null;
    }[]
  >;
  /** What stands for a Message-ID or a meeting point after a deletion; the same for all while nothing was deleted. */
  standIns(): Promise<(name: string) => string>;
  /** In the order of their identifiers. */
  emails(): AsyncIterable<readonly ScannedEmail[]>;
  /** Lists of threads that decisions keep apart. */
  clusters(): Promise<readonly (readonly string[])[]>;
  /** Weighs the threads, and those that decisions keep apart from them; all of one account. */
  weigh(threadIds: readonly string[]): Promise<ThreadChanges>;
}

/** Throws `ServiceError('database_unavailable')`. */
export interface RethreadStore {
  inSnapshot<T>(work: (snapshot: ThreadSnapshot) => Promise<T>): Promise<T>;
  /** Weighs the threads as they are now and corrects them, in one transaction. */
  arrange(threadIds: readonly string[]): Promise<ThreadChanges>;
}

export interface RethreadOptions {
  /** True: only report. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** Called with the changes of threads one after the other, also in a dry run. */
  readonly onChanges: (changes: ThreadChanges) => void;
  /** Emails read so far. */
  readonly onProgress: (emails: number) => void;
}

export interface RethreadResult {
  readonly emails: number;
  readonly moved: number;
  readonly merged: number;
  readonly messageIds: number;
}

/** Ends early, without harm, when `signal` is aborted. */
export async function rethread(store: RethreadStore, options: RethreadOptions): Promise<RethreadResult> {
  const result = { emails: 0, moved: 0, merged: 0, messageIds: 0 };
  const add = (changes: ThreadChanges) => {
    const { moves, merged, messageIds } = changes;
    if (moves.length + merged.length + messageIds === 0) return;
    result.moved += moves.length;
    result.merged += merged.length;
    result.messageIds += messageIds;
    options.onChanges(changes);
  };
  const suspects = await store.inSnapshot(async (snapshot) => {
    const found = await scan(snapshot, options, result);
    if (options.dryRun) {
      for (const threadIds of found) {
        if (options.signal.aborted) break;
        add(await snapshot.weigh(threadIds));
      }
    }
    return found;
  });
  if (!options.dryRun) {
    for (const threadIds of suspects) {
      if (options.signal.aborted) break;
      add(await store.arrange(threadIds));
    }
  }
  return result;
}

async function scan(
  snapshot: ThreadSnapshot,
  { signal, onProgress }: RethreadOptions,
  counts: { emails: number },
): Promise<readonly (readonly string[])[]> {
  const scan = new ThreadScan(await snapshot.standIns());
  for await (const page of snapshot.messageIds()) {
    if (signal.aborted) return [];
    for (const { accountId, messageId, threadId, waitsFor } of page)
      scan.addMessageId(accountId, messageId, threadId, waitsFor);
  }
  for await (const page of snapshot.emails()) {
    if (signal.aborted) return [];
    for (const email of page) scan.addEmail(email);
    counts.emails += page.length;
    onProgress(counts.emails);
  }
  for (const threadIds of await snapshot.clusters()) scan.addCluster(threadIds);
  return scan.suspects();
}
