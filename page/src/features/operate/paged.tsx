/** A list of an operators' view: loaded page by page, and kept fresh while it is on screen. */
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Page, Pages } from 'email-worker-client';
import type { IconType } from '../../ui/icons.tsx';
import type { ReactNode } from 'react';
import { useWords } from '../../i18n/index.tsx';
import { Bones } from '../../ui/bones.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty, Failure } from '../../ui/empty.tsx';
import { useOperateWords } from './operate-words.ts';

/** Values without events, such as a lag, grow old meanwhile. */
const REFRESH_MS = 15_000;
const BONES = 4;

interface PagedProps<Item> {
  /** Identifies the list, with its filter, among those of all views. */
  readonly name: readonly [view: string, ...filter: string[]];
  readonly list: (options: { readonly signal: AbortSignal }) => Pick<Pages<Item>, 'page'>;
  readonly empty: { readonly icon: IconType; readonly title: string; readonly hint?: string };
  /** null: the same interval as other lists. */
  readonly refreshMs?: (items: readonly Item[]) => number | null;
  readonly children: (items: readonly Item[]) => ReactNode;
}

export function Paged<Item>({ name, list, empty, refreshMs, children }: PagedProps<Item>) {
  const { text } = useWords();
  const { operate } = useOperateWords();
  const query = useInfiniteQuery({
    queryKey: ['operate', ...name],
    queryFn: ({ pageParam, signal }): Promise<Page<Item>> => list({ signal }).page(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
    refetchInterval: ({ state }) =>
      refreshMs?.(state.data?.pages.flatMap((page) => page.items) ?? []) ?? REFRESH_MS,
  });
  if (query.isPending) return <Bones count={BONES} shape={<div className="operate-bone bone" />} />;
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  if (query.isError && items.length === 0) {
    return (
      <Failure
        title={text.app.unreachable}
        hint={text.app.unreachableHint}
        onRetry={() => void query.refetch()}
      />
    );
  }
  if (items.length === 0) return <Empty {...empty} />;
  return (
    <>
      {children(items)}
      {query.hasNextPage && (
        <Button
          look="outline"
          isPending={query.isFetchingNextPage}
          onPress={() => void query.fetchNextPage()}
        >
          {operate.more}
        </Button>
      )}
    </>
  );
}
