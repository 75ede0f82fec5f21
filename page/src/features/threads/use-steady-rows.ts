/** Lines stay in place for the reader while others come and go above; at the top of the list new lines appear. */
import { useLayoutEffect, useRef } from 'react';
import { moveOf } from './row-moves.ts';
import type { Row } from './rows.ts';
import { ROW_HEIGHT } from './thread-row.tsx';

export function useSteadyRows(rows: readonly Row[], list: HTMLElement | null): void {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const old = before.current;
    before.current = rows;
    if (list === null || old === rows || list.scrollTop < ROW_HEIGHT) return;
    const by = moveOf(old, rows, Math.floor(list.scrollTop / ROW_HEIGHT));
    if (by !== 0) list.scrollBy({ top: by * ROW_HEIGHT, behavior: 'instant' });
  }, [rows, list]);
}
