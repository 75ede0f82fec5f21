/** The actions on the threads selected in the list. */
import { Archive, ArchiveRestore, X } from 'lucide-react';
import { useThreadActions } from '../../api/actions.ts';
import { useWords } from '../../i18n/index.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import type { Row } from './rows.ts';

interface BulkActionsProps {
  readonly rows: readonly Row[];
  readonly selected: ReadonlySet<string>;
  readonly onEnd: () => void;
}

export function BulkActions({ rows, selected, onEnd }: BulkActionsProps) {
  const { text, format } = useWords();
  const actions = useThreadActions();
  const chosen = rows.filter(({ id }) => selected.has(id));
  const areDone = chosen.every(({ status }) => status === 'done');
  const change = (): void => {
    // Undo restores the previous state, so threads that already have the new one are left out.
    const ids = chosen.filter(({ status }) => (status === 'done') === areDone).map(({ id }) => id);
    const count = format.count(ids.length);
    actions.changeMany(
      ids,
      { status: areDone ? 'open' : 'done' },
      {
        text: areDone ? text.thread.nowOpen(count) : text.thread.nowDone(count),
        back: { status: areDone ? 'done' : 'open' },
      },
    );
    onEnd();
  };
  return (
    <>
      <h1 className="truncate" aria-live="polite">
        {text.list.selected(format.count(selected.size))}
      </h1>
      <div className="list-title-actions">
        <Button look="outline" onPress={change}>
          {areDone ? <ArchiveRestore size={16} aria-hidden /> : <Archive size={16} aria-hidden />}
          {areDone ? text.thread.reopen : text.thread.markDone}
        </Button>
        <IconButton icon={X} label={text.list.clearSelection} onPress={onEnd} />
      </div>
    </>
  );
}
