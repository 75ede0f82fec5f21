/** What a reader does with threads: each act is shown at once, can be undone, and never overwrites what another person did. */
import { useQueryClient, type InfiniteData, type QueryClient } from '@tanstack/react-query';
import { EmailWorkerError, type ThreadChange, type ThreadPage, type ThreadRecord } from 'email-worker-client';
import { useEffect, useMemo } from 'react';
import { useMay } from '../app/session.tsx';
import { useWords } from '../i18n/index.tsx';
import { notify } from '../ui/toast.tsx';
import { client } from './client.ts';
import { refreshLists } from './live.ts';
import { keys } from './queries.ts';

/** A thread that is only passed on the way to another stays unread. */
const READ_AFTER_MS = 800;
/** Requests of a change of many threads that run at the same time. */
const TOGETHER = 4;

/** Marks a thread as read that is on screen. */
export function useMarkRead(thread: ThreadRecord | undefined): void {
  const queryClient = useQueryClient();
  const mayMark = useMay('operate');
  const id = thread?.id;
  const isUnread = (thread?.unread_count ?? 0) > 0;
  useEffect(() => {
    if (id === undefined || !isUnread || !mayMark) return undefined;
    const timer = setTimeout(() => {
      client.threads.markRead(id).then(
        () => refreshLists(queryClient),
        // It stays unread, and is marked when it is opened next.
        () => undefined,
      );
    }, READ_AFTER_MS);
    return () => clearTimeout(timer);
  }, [id, isUnread, mayMark, queryClient]);
}

export interface ThreadActions {
  /** `back` is what undoes it; null: nothing is offered. */
  change(thread: ThreadRecord, change: ThreadChange, told: Told | null): void;
  /** Threads of which only the lines are known: whatever was changed meanwhile, this one field is set. */
  changeMany(ids: readonly string[], change: ThreadChange, told: Told): void;
  markUnread(id: string): void;
}

export interface Told {
  readonly text: string;
  readonly back: ThreadChange;
}

export function useThreadActions(): ThreadActions {
  const queryClient = useQueryClient();
  const { text, format } = useWords();
  return useMemo(() => {
    const tellFailure = (error: unknown): void => {
      notify(
        error instanceof EmailWorkerError && error.status === 403
          ? text.thread.notAllowed
          : text.thread.changeFailed,
      );
    };
    const change: ThreadActions['change'] = (thread, wanted, told) => {
      showRecord(queryClient, { ...thread, ...shownAtOnce(thread, wanted) });
      client.threads.change(thread.id, wanted, { version: thread.version }).then(
        (record) => {
          showRecord(queryClient, record);
          refreshLists(queryClient);
          if (told === null) return;
          notify(told.text, {
            action: { label: text.app.undo, run: () => change(record, told.back, null) },
          });
        },
        (error: unknown) => {
          void queryClient.invalidateQueries({ queryKey: keys.thread(thread.id) });
          if (error instanceof EmailWorkerError && error.code === 'thread_changed')
            notify(text.thread.changed);
          else tellFailure(error);
        },
      );
    };
    const changeMany = async (ids: readonly string[], wanted: ThreadChange, told: Told | null) => {
      const failed = await inTurns(ids, (id) => client.threads.change(id, wanted));
      for (const id of ids) void queryClient.invalidateQueries({ queryKey: keys.thread(id) });
      refreshLists(queryClient);
      const done = ids.filter((id) => !failed.includes(id));
      if (told !== null && done.length > 0)
        notify(told.text, {
          action: { label: text.app.undo, run: () => void changeMany(done, told.back, null) },
        });
      if (failed.length > 0) notify(text.thread.someFailed(format.count(failed.length)));
    };
    return {
      change,
      changeMany: (ids, wanted, told) => void changeMany(ids, wanted, told),
      markUnread(id) {
        client.threads.markUnread(id).then(() => refreshLists(queryClient), tellFailure);
      },
    };
  }, [queryClient, text, format]);
}

/** Returns those that failed. */
async function inTurns(ids: readonly string[], run: (id: string) => Promise<unknown>): Promise<string[]> {
  const waiting = [...ids];
  const failed: string[] = [];
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        await run(id);
      } catch {
        failed.push(id);
      }
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  return failed;
}

/** How the record will be, for the moment until the service says so. */
function shownAtOnce(thread: ThreadRecord, change: ThreadChange): Partial<ThreadRecord> {
  const labels = [...thread.labels, ...(change.add_labels ?? [])].filter(
    (label) => !(change.remove_labels ?? []).includes(label),
  );
  return {
    labels,
    ...(change.status === undefined ? {} : { status: change.status }),
    ...(change.assignee === undefined ? {} : { assignee: change.assignee }),
  };
}

function showRecord(queryClient: QueryClient, thread: ThreadRecord): void {
  queryClient.setQueryData<InfiniteData<ThreadPage>>(keys.thread(thread.id), (data) =>
    data === undefined ? data : { ...data, pages: data.pages.map((page) => ({ ...page, thread })) },
  );
}
