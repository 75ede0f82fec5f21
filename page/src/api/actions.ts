/** A reader's actions on threads: each is shown at once, can be undone, and never overwrites another person's change. */
import { useQueryClient, type InfiniteData, type QueryClient } from '@tanstack/react-query';
import { EmailWorkerError, type ThreadChange, type ThreadPage, type ThreadRecord } from 'email-worker-client';
import { useEffect, useMemo } from 'react';
import { useMay } from '../app/session.tsx';
import { useWords } from '../i18n/index.tsx';
import { notify } from '../ui/toast.tsx';
import { client } from './client.ts';
import { refreshLists } from './live.ts';
import { keys } from './queries.ts';

/** A thread that the reader only passes on the way to another stays unread. */
const READ_AFTER_MS = 800;
/** Requests that run at the same time when many threads are changed. */
const TOGETHER = 4;

/** Marks the thread on screen as read. */
export function useMarkRead(thread: ThreadRecord | undefined): void {
  const queryClient = useQueryClient();
  const mayMark = useMay('handle');
  const id = thread?.id;
  const isUnread = (thread?.unread_count ?? 0) > 0;
  useEffect(() => {
    if (id === undefined || !isUnread || !mayMark) return undefined;
    const timer = setTimeout(() => {
      client.threads.markRead(id).then(
        () => refreshLists(queryClient),
        // The thread stays unread, and is marked when it is opened next.
        () => undefined,
      );
    }, READ_AFTER_MS);
    return () => clearTimeout(timer);
  }, [id, isUnread, mayMark, queryClient]);
}

export interface ThreadActions {
  /** `back` in `told` undoes the change; null: no undo is offered. */
  change(thread: ThreadRecord, change: ThreadChange, told: Told | null): void;
  assign(thread: ThreadRecord, assignee: ThreadAssignee): void;
  /** For threads of which only the lines are loaded: sets this one field, whatever else has changed meanwhile. */
  changeMany(ids: readonly string[], change: ThreadChange, told: Told): void;
  markUnread(id: string): void;
  /** Marks the thread as spam, and what the address sends to its account from now on. */
  block(thread: ThreadRecord, sender: string): void;
}

export interface Told {
  readonly text: string;
  /** null: no one change takes it back. */
  readonly back: ThreadChange | null;
}

export type ThreadAssignee = Pick<ThreadRecord, 'assignee' | 'assignee_name'>;

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
    const tell = ({ text: said, back }: Told, undo: (back: ThreadChange) => void): void => {
      notify(said, back === null ? {} : { action: { label: text.app.undo, run: () => undo(back) } });
    };
    const change = (
      thread: ThreadRecord,
      wanted: ThreadChange,
      told: Told | null,
      shown: Partial<ThreadRecord> = shownAtOnce(thread, wanted),
    ): void => {
      showRecord(queryClient, { ...thread, ...shown });
      client.threads.change(thread.id, wanted, { version: thread.version }).then(
        (record) => {
          showRecord(queryClient, record);
          refreshLists(queryClient);
          if (told !== null) tell(told, (back) => change(record, back, null));
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
      if (told !== null && done.length > 0) tell(told, (back) => void changeMany(done, back, null));
      if (failed.length > 0) notify(text.thread.someFailed(format.count(failed.length)));
    };
    return {
      change,
      assign: (thread, to) =>
        change(
          thread,
          { assignee: to.assignee },
          {
            text: to.assignee_name === null ? text.thread.unassign : text.thread.assignedTo(to.assignee_name),
            back: { assignee: thread.assignee },
          },
          to,
        ),
      changeMany: (ids, wanted, told) => void changeMany(ids, wanted, told),
      block(thread, sender) {
        client.blockedSenders.block({ sender, account_id: thread.account_id }).then(({ id }) => {
          change(thread, { status: 'spam' }, null);
          notify(text.thread.nowBlocked(sender), {
            action: {
              label: text.app.undo,
              run: () => {
                client.blockedSenders.unblock(id).catch(tellFailure);
                void changeMany([thread.id], { status: thread.status }, null);
              },
            },
          });
        }, tellFailure);
      },
      markUnread(id) {
        client.threads.markUnread(id).then(() => refreshLists(queryClient), tellFailure);
      },
    };
  }, [queryClient, text, format]);
}

/** Returns the ids that failed. */
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

/** The expected record, shown until the service answers. */
function shownAtOnce(thread: ThreadRecord, change: ThreadChange): Partial<ThreadRecord> {
  const labels = [...thread.labels, ...(change.add_labels ?? [])].filter(
    (label) => !(change.remove_labels ?? []).includes(label),
  );
  return {
    labels,
    ...(change.status === undefined ? {} : { status: change.status }),
  };
}

function showRecord(queryClient: QueryClient, thread: ThreadRecord): void {
  queryClient.setQueryData<InfiniteData<ThreadPage>>(keys.thread(thread.id), (data) =>
    data === undefined ? data : { ...data, pages: data.pages.map((page) => ({ ...page, thread })) },
  );
}
