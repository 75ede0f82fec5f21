/** Leads back to the line that was at the top of the list when the reader left it. */
import { useEffect, useLayoutEffect, useRef } from 'react';
import { keepPlace, keptPlace, onReaderInput } from '../../app/kept-places.ts';
import type { Row } from './rows.ts';
import { ROW_HEIGHT } from './thread-row.tsx';

interface Line {
  readonly id: string;
  readonly index: number;
  /** Pixels of it above the list. */
  readonly hidden: number;
}

/** Lines that may have come above it since. */
const MAX_MOVED = 100;

export function useKeptLine(
  folderKey: string,
  rows: readonly Row[],
  list: HTMLElement | null,
  /** null: there are no further lines. */
  loadMore: (() => void) | null,
): void {
  const name = `line ${folderKey}`;
  const wanted = useRef<Line | null | undefined>(undefined);
  // oxlint-disable-next-line react-hooks/refs -- read once, when the list is first shown
  if (wanted.current === undefined) wanted.current = keptPlace<Line>(name);
  const restore = useRef<() => void>(() => undefined);
  const latest = useRef(rows);
  useLayoutEffect(() => {
    latest.current = rows;
    restore.current = () => {
      const line = wanted.current ?? null;
      // A list that is not on screen has no place to scroll to.
      if (line === null || list === null || list.clientHeight === 0) return;
      const found = rows.findIndex(({ id }) => id === line.id);
      const index = found === -1 ? line.index : found;
      const top = index * ROW_HEIGHT + line.hidden;
      const bottom = top + list.clientHeight;
      const isLoaded = found !== -1 && bottom <= rows.length * ROW_HEIGHT;
      if (!isLoaded && loadMore !== null && rows.length < line.index + MAX_MOVED) {
        loadMore();
        return;
      }
      list.scrollTop = top;
      // The list may grow only in the next rendering, which this scroll brings about.
      if (!isLoaded || list.scrollTop + 1 > top) wanted.current = null;
    };
    restore.current();
  });
  useEffect(() => {
    if (list === null) return undefined;
    const keep = (): void => {
      if (wanted.current !== null || list.clientHeight === 0) return;
      const index = Math.floor(list.scrollTop / ROW_HEIGHT);
      const row = latest.current[index];
      // At the top, new lines are to appear.
      keepPlace(
        name,
        index === 0 || row === undefined ? null : { id: row.id, index, hidden: list.scrollTop % ROW_HEIGHT },
      );
    };
    let wasShown = list.clientHeight > 0;
    const watching = new ResizeObserver(() => {
      const isShown = list.clientHeight > 0;
      if (isShown && !wasShown) wanted.current ??= keptPlace<Line>(name);
      wasShown = isShown;
      restore.current();
    });
    watching.observe(list);
    list.addEventListener('scroll', keep, { passive: true });
    const stop = onReaderInput(list, () => (wanted.current = null));
    return () => {
      watching.disconnect();
      list.removeEventListener('scroll', keep);
      stop();
    };
  }, [list, name]);
}
