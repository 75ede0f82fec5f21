/**
 * Follows the events of the service, and reloads the data that they concern. Continues where it was after the connection broke or the
 * computer slept; when the events in between are gone, everything is reloaded.
 */
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { EmailWorkerError, type Event } from 'email-worker-client';
import { useEffect } from 'react';
import { loseDraft, lookForDrafts } from '../features/write/draft-keeper.ts';
import { client } from './client.ts';
import type { LiveList } from './live-list.ts';
import { keys, type RowPage } from './queries.ts';

/** Events that arrive together cost one round of requests. */
const GATHER_MS = 300;
const RETRY_MS = 3000;
/**
 * Delays after an event: the words of a new email become searchable a moment after it arrived, and later when much mail arrives at once.
 */
const FOUND_AFTER_MS = [1500, 5000, 20_000];

export function useLiveEvents(isOn: boolean): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    if (!isOn) return undefined;
    const stop = new AbortController();
    let restart = new AbortController();
    // A request that was open while the computer slept may never be answered.
    const wake = (): void => {
      if (document.visibilityState === 'visible') restart.abort();
    };
    const next = (): AbortSignal => {
      restart = new AbortController();
      return AbortSignal.any([stop.signal, restart.signal]);
    };
    void follow(queryClient, stop.signal, next);
    addEventListener('online', wake);
    document.addEventListener('visibilitychange', wake);
    return () => {
      stop.abort();
      removeEventListener('online', wake);
      document.removeEventListener('visibilitychange', wake);
    };
  }, [queryClient, isOn]);
}

async function follow(queryClient: QueryClient, stop: AbortSignal, next: () => AbortSignal): Promise<void> {
  const gathered = createGathering(queryClient);
  stop.addEventListener('abort', gathered.end);
  let position: string | undefined;
  while (!stop.aborted) {
    const signal = next();
    try {
      if (position === undefined) {
        position = await client.events.latest({ signal });
        // Covers the events since the page was loaded.
        gathered.addAll();
      }
      for await (const event of client.events.stream({ after: position }, { signal })) {
        position = event.id;
        gathered.add(event);
      }
    } catch (error) {
      if (stop.aborted) return;
      if (error instanceof EmailWorkerError && error.code === 'events_expired') position = undefined;
      if (!signal.aborted) await sleep(RETRY_MS, stop);
      while (!stop.aborted && queryClient.getQueryData(keys.session) === null) await sleep(RETRY_MS, stop);
    }
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

interface Gathering {
  add(event: Event): void;
  addAll(): void;
  end(): void;
}

function createGathering(queryClient: QueryClient): Gathering {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const threads = new Set<string>();
  const searches = new Map<number, ReturnType<typeof setTimeout>>();
  let isAll = false;
  const search = (ms: number): void => {
    searches.delete(ms);
    for (const { list, isSearch } of shown.values()) if (isSearch) list.touch();
  };
  const reload = (queryKey: readonly string[]): void => void queryClient.invalidateQueries({ queryKey });
  const flush = (): void => {
    timer = null;
    if (isAll) for (const queryKey of [keys.threads, keys.allThreadDrafts]) reload(queryKey);
    else for (const id of threads) for (const of of [keys.thread, keys.threadDrafts]) reload(of(id));
    threads.clear();
    isAll = false;
    refreshLists(queryClient);
    // Timers that are already set keep running: an open search stays current even where mail arrives all the time.
    for (const ms of FOUND_AFTER_MS) if (!searches.has(ms)) searches.set(ms, setTimeout(search, ms, ms));
  };
  const start = (): void => {
    timer ??= setTimeout(flush, GATHER_MS);
  };
  return {
    add({ thread_id, type, data }) {
      if (thread_id !== null) threads.add(thread_id);
      if (type === 'draft.sent' || type === 'draft.deleted')
        loseDraft(String(data['draft_id']), type === 'draft.sent' ? 'sent' : 'discarded');
      start();
    },
    addAll() {
      isAll = true;
      lookForDrafts();
      start();
    },
    end() {
      for (const waiting of [timer, ...searches.values()]) clearTimeout(waiting ?? undefined);
    },
  };
}

/** The lists on screen, by the hashes of their queries. */
const shown = new Map<string, { readonly list: LiveList<RowPage>; readonly isSearch: boolean }>();

/** Keeps a list true while it is on screen. Returns the end of that. */
export function showList(list: LiveList<RowPage>, hash: string, isSearch: boolean): () => void {
  shown.set(hash, { list, isSearch });
  return () => {
    if (shown.get(hash)?.list === list) shown.delete(hash);
  };
}

/** Reloads the counts and what is on screen of the lists; other lists are looked at when they are shown next. */
export function refreshLists(queryClient: QueryClient): void {
  void queryClient.invalidateQueries({ queryKey: keys.folders });
  for (const { list } of shown.values()) list.touch();
  void queryClient.invalidateQueries({
    queryKey: keys.lists,
    predicate: ({ queryHash }) => !shown.has(queryHash),
  });
}
