/** The lines of a folder: however many there are, only those on screen exist as elements. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Inbox, ListChecks, SearchX } from '../../ui/icons.tsx';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type RefObject } from 'react';
import type { LiveList } from '../../api/live-list.ts';
import { listQuery, type RowPage } from '../../api/queries.ts';
import { DrawerButton } from '../../app/drawer-button.tsx';
import { useOpeners } from '../../app/links.ts';
import { keepPlace, keptPlace } from '../../app/kept-places.ts';
import { useMay } from '../../app/session.tsx';
import { useShortcuts } from '../../app/shortcuts.ts';
import { useWords } from '../../i18n/index.tsx';
import { Bones } from '../../ui/bones.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Empty, Failure } from '../../ui/empty.tsx';
import type { Folder } from '../folders/folder.ts';
import { SearchField } from '../search/search-field.tsx';
import { CustomerChoice, SearchFaults } from '../search/search-notes.tsx';
import { BulkActions } from './bulk-actions.tsx';
import type { Row } from './rows.ts';
import { ROW_HEIGHT, ThreadRow } from './thread-row.tsx';
import { useKeptLine } from './use-kept-line.ts';
import { useLiveList } from './use-live-list.ts';
import { useSteadyRows } from './use-steady-rows.ts';
import './thread-list.css';

interface ThreadListProps {
  readonly folder: Folder;
  readonly threadId: string | null;
  /** The open draft; null: none. */
  readonly draftId: string | null;
  /** Receives the function that goes on to the next thread. */
  readonly leaveRef: RefObject<() => void>;
}

const NONE: ReadonlySet<string> = new Set();
/** One pane at a time, as in the styles. */
const PHONE = '(max-width: 720px)';

/** Lines rendered above and below the screen, so that fast scrolling shows no gaps. */
const OVERSCAN = 8;
/** The next page is loaded this many lines before the last one is on screen. */
const AHEAD = 20;
const BONES = 9;

export function ThreadList({ folder, threadId, draftId, leaveRef }: ThreadListProps) {
  const { text } = useWords();
  const mayChange = useMay('handle');
  const [selection, setSelection] = useState<{ of: string; ids: ReadonlySet<string> } | null>(null);
  const keptName = `selection ${folder.key}`;
  const kept = useMemo(() => new Set(keptPlace<readonly string[]>(keptName)), [keptName]);
  // A selection belongs to one folder.
  const selected = selection?.of === folder.key ? selection.ids : kept;
  const [isChoosing, setChoosing] = useState(false);
  const canSelect = mayChange && folder.source.kind === 'threads';
  const select = useCallback(
    (ids: ReadonlySet<string>) => {
      setSelection({ of: folder.key, ids });
      keepPlace(keptName, ids.size === 0 ? null : [...ids]);
    },
    [folder.key, keptName],
  );
  const list = useInfiniteQuery({
    ...listQuery(folder.source),
    enabled: folder.isReady,
    // The results stay until those for the next letter have arrived.
    ...(folder.query === null ? {} : { placeholderData: keepPreviousData }),
    ...KEPT_TRUE,
  });
  const live = useLiveList(folder);
  const { rows, pageStarts } = useMemo(() => rowsOf(list.data?.pages ?? []), [list.data]);
  // Lines that left the list are no longer selected.
  const chosen = useMemo(() => rows.filter(({ id }) => selected.has(id)), [rows, selected]);
  // State instead of a ref: lines that are known when a folder opens would be counted before their scroll container exists.
  const [scroll, setScroll] = useState<HTMLDivElement | null>(null);
  useShortcuts(
    isChoosing || chosen.length > 0
      ? {
          Escape: () => {
            select(NONE);
            setChoosing(false);
          },
        }
      : {},
  );
  return (
    <section className="pane-list" id="list" aria-label={text.list.title(folder.title)} tabIndex={-1}>
      <div className="list-head">
        <DrawerButton />
        <SearchField query={folder.query} />
      </div>
      <div className="list-title">
        {chosen.length === 0 ? (
          <>
            <h1 className="truncate">{folder.title}</h1>
            {canSelect && rows.length > 0 && (
              <span className="choose-button">
                <IconButton
                  icon={ListChecks}
                  label={text.list.select}
                  onPress={() => setChoosing(!isChoosing)}
                />
              </span>
            )}
          </>
        ) : (
          <BulkActions
            chosen={chosen}
            onEnd={() => {
              select(NONE);
              setChoosing(false);
            }}
          />
        )}
      </div>
      <SearchFaults search={folder.search} />
      <div
        key={folder.key}
        className="list-scroll"
        data-is-old={list.isPlaceholderData ? '' : undefined}
        ref={setScroll}
        tabIndex={-1}
      >
        {folder.choice !== null ? (
          <CustomerChoice
            query={folder.query ?? ''}
            typed={folder.search?.customer ?? ''}
            customers={folder.choice}
          />
        ) : list.isPending ? (
          <Bones count={BONES} shape={ROW_OF_BONES} />
        ) : list.isError && rows.length === 0 ? (
          <Failure title={text.list.failed} onRetry={() => void list.refetch()} />
        ) : rows.length === 0 ? (
          <Empty icon={folder.query === null ? Inbox : SearchX} {...text.list.empty[folder.empty]} />
        ) : (
          <Rows
            folder={folder}
            rows={rows}
            threadId={threadId}
            draftId={draftId}
            leaveRef={leaveRef}
            live={live}
            pageStarts={pageStarts}
            scroll={scroll}
            selected={selected}
            isChoosing={isChoosing || chosen.length > 0}
            onSelect={canSelect ? select : null}
            onNearEnd={() => {
              if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
            }}
            hasMore={list.hasNextPage}
          />
        )}
      </div>
    </section>
  );
}

/** Loads lists anew; the query would load all pages. */
const KEPT_TRUE = { refetchOnMount: false, refetchOnWindowFocus: false, refetchOnReconnect: false } as const;

/** The lines of all pages, and the place of the first line of each. A thread that moved up while pages were loaded is on two of them. */
function rowsOf(pages: readonly RowPage[]): {
  readonly rows: readonly Row[];
  readonly pageStarts: readonly number[];
} {
  const rows = new Map<string, Row>();
  const pageStarts: number[] = [];
  for (const page of pages) {
    pageStarts.push(rows.size);
    for (const row of page.rows) if (!rows.has(row.id)) rows.set(row.id, row);
  }
  return { rows: [...rows.values()], pageStarts };
}

/** The page that a line is on. */
const pageOf = (pageStarts: readonly number[], index: number): number =>
  Math.max(
    0,
    pageStarts.findLastIndex((start) => start <= index),
  );

interface RowsProps extends ThreadListProps {
  readonly rows: readonly Row[];
  readonly live: LiveList<RowPage>;
  /** The place of the first line of each page. */
  readonly pageStarts: readonly number[];
  /** The container in which the lines scroll; null: it does not exist yet. */
  readonly scroll: HTMLDivElement | null;
  readonly selected: ReadonlySet<string>;
  readonly isChoosing: boolean;
  /** null: lines can't be selected. */
  readonly onSelect: ((ids: ReadonlySet<string>) => void) | null;
  readonly hasMore: boolean;
  readonly onNearEnd: () => void;
}

function Rows(props: RowsProps) {
  const { folder, rows, threadId, draftId, leaveRef, scroll, selected } = props;
  const { isChoosing, onSelect, hasMore, onNearEnd, live, pageStarts } = props;
  const { openThread, openDraft, openList } = useOpeners(folder);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  });
  useSteadyRows(rows, scroll);
  useKeptLine(folder.key, rows, scroll, hasMore ? onNearEnd : null);
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  const first = shown[0]?.index ?? 0;
  useEffect(() => {
    live.show(pageOf(pageStarts, first), pageOf(pageStarts, last));
    if (last >= rows.length - AHEAD) onNearEnd();
  }, [live, pageStarts, first, last, rows.length, onNearEnd]);
  const current = rows.findIndex((row) =>
    row.threadId === null ? row.draftId !== null && row.draftId === draftId : row.threadId === threadId,
  );
  const step = (from: number, by: number): void => {
    const index = from === -1 ? 0 : Math.min(Math.max(from + by, 0), rows.length - 1);
    const row = rows[index];
    if (row === undefined || (row.threadId === null && row.draftId === null)) return;
    virtual.scrollToIndex(index, { align: 'auto' });
    if (row.threadId !== null) openThread(row.threadId);
    else if (row.draftId !== null) openDraft(row.draftId);
    focusRow(scroll, row.id);
  };
  const leave = (): void => {
    const next = rows[current + 1] ?? rows[current - 1];
    if (current === -1 || next?.threadId === undefined || next.threadId === null || matchMedia(PHONE).matches)
      openList();
    else openThread(next.threadId);
  };
  const toggle = ({ id }: Row): void => {
    const ids = new Set(selected);
    if (!ids.delete(id)) ids.add(id);
    onSelect?.(ids);
  };
  // Lines are not rendered again when only these functions change.
  const latest = useRef({ step, toggle });
  useLayoutEffect(() => {
    latest.current = { step, toggle };
    leaveRef.current = leave;
  });
  const stepFromRow = useCallback(
    (position: number, by: number) => latest.current.step(position - 1, by),
    [],
  );
  const toggleRow = useCallback((row: Row) => latest.current.toggle(row), []);
  useShortcuts({
    x: () => {
      const row = rows[current];
      if (row !== undefined) toggle(row);
    },
    j: () => step(current, 1),
    k: () => step(current, -1),
  });
  return (
    <ul
      className="rows"
      data-is-choosing={isChoosing ? '' : undefined}
      style={{ height: virtual.getTotalSize() + (hasMore ? ROW_HEIGHT : 0) }}
    >
      {shown.map(({ index, start }) => {
        const row = rows[index];
        return row === undefined ? null : (
          <ThreadRow
            key={row.id}
            folder={folder}
            row={row}
            top={start}
            position={index + 1}
            isCurrent={index === current}
            isChecked={selected.has(row.id)}
            isStop={index === Math.max(current, 0)}
            onCheck={onSelect === null ? null : toggleRow}
            onStep={stepFromRow}
          />
        );
      })}
    </ul>
  );
}

/** The line may not exist until the list has scrolled to it. */
function focusRow(scroll: HTMLDivElement | null, id: string): void {
  requestAnimationFrame(() => {
    scroll?.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });
  });
}

const ROW_OF_BONES = (
  <div className="bones">
    <span className="bone" />
    <span className="bone" />
    <span className="bone" />
  </div>
);
