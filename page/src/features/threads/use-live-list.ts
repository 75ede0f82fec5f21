/** Keeps the list on screen true: see api/live-list.ts. */
import { hashKey, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { LiveList } from '../../api/live-list.ts';
import { showList } from '../../api/live.ts';
import { keys, readRows, type RowPage } from '../../api/queries.ts';
import type { Folder } from '../folders/folder.ts';

export function useLiveList({ key, source, query }: Folder): LiveList<RowPage> {
  const queryClient = useQueryClient();
  const [live, hash] = useMemo(() => {
    const queryKey = keys.list(source);
    const list = new LiveList<RowPage>({
      load: (cursor) =>
        queryClient.getQueryData(keys.session) === null
          ? Promise.reject(new Error('there is no session'))
          : readRows(source, cursor),
      read: () => queryClient.getQueryData<InfiniteData<RowPage, string | null>>(queryKey),
      write: (data) => void queryClient.setQueryData(queryKey, data),
      stopLoads: () => queryClient.cancelQueries({ queryKey, exact: true }),
    });
    return [list, hashKey(queryKey)] as const;
    // The source of a folder is another object with each render, and says the same.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [key, queryClient, JSON.stringify(source)]);
  useEffect(() => {
    live.begin();
    const hide = showList(live, hash, query !== null);
    return () => {
      hide();
      live.end();
    };
  }, [live, hash, query]);
  return live;
}
