/** What a reader does with threads. */
import { useQueryClient } from '@tanstack/react-query';
import type { ThreadRecord } from 'email-worker-client';
import { useEffect } from 'react';
import { useMay } from '../app/session.tsx';
import { client } from './client.ts';
import { refreshLists } from './live.ts';

/** A thread that is only passed on the way to another stays unread. */
const READ_AFTER_MS = 800;

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
        () => undefined,
      );
    }, READ_AFTER_MS);
    return () => clearTimeout(timer);
  }, [id, isUnread, mayMark, queryClient]);
}
