/** Lines stay where the reader sees them while others come and go above; at the top of the list new ones are seen. */
import { useLayoutEffect, useRef, type RefObject } from 'react';
import type { Row } from './rows.ts';
import { ROW_HEIGHT } from './thread-row.tsx';

/** One line that moved itself must not take the others along: the middle one of these decides. */
const WATCHED = 7;

export function useSteadyRows(rows: readonly Row[], scrollRef: RefObject<HTMLElement | null>): void {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const list = scrollRef.current;
    const old = before.current;
    before.current = rows;
    if (list === null || old === rows || list.scrollTop < ROW_HEIGHT) return;
    const first = Math.floor(list.scrollTop / ROW_HEIGHT);
    const places = new Map(rows.map(({ id }, index) => [id, index]));
    const moves = old.slice(first, first + WATCHED).flatMap(({ id }, offset) => {
      const place = places.get(id);
      return place === undefined ? [] : [place - first - offset];
    });
    const by = moves.toSorted((one, other) => one - other)[Math.floor(moves.length / 2)] ?? 0;
    if (by !== 0) list.scrollTop += by * ROW_HEIGHT;
  }, [rows, scrollRef]);
}
