/** The actions on the threads selected in the list. */
import { Archive, ArchiveRestore, UserRoundPlus, X } from '../../ui/icons.tsx';
import { MenuTrigger } from 'react-aria-components';
import { useThreadActions, type ThreadAssignee } from '../../api/actions.ts';
import { useWords } from '../../i18n/index.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { AssigneePopover } from '../thread/assignee-menu.tsx';
import type { Row } from './rows.ts';

interface BulkActionsProps {
  readonly chosen: readonly Row[];
  readonly onEnd: () => void;
}

export function BulkActions({ chosen, onEnd }: BulkActionsProps) {
  const { text, format } = useWords();
  const actions = useThreadActions();
  const areDone = chosen.every(({ status }) => status === 'done');
  const change = (): void => {
    // Undo restores the previous state, so threads that already have the new one are left out.
    const changed = chosen.filter(({ status }) => (status === 'done') === areDone);
    const before = sameOf(changed, ({ status }) => status);
    const count = format.count(changed.length);
    actions.changeMany(
      changed.map(({ id }) => id),
      { status: areDone ? 'open' : 'done' },
      {
        text: areDone ? text.thread.nowOpen(count) : text.thread.nowDone(count),
        back: before === undefined || before === null ? null : { status: before },
      },
    );
    onEnd();
  };
  const assign = ({ assignee, assignee_name: name }: ThreadAssignee): void => {
    const changed = chosen.filter((row) => row.assignee !== assignee);
    const before = sameOf(changed, (row) => row.assignee);
    actions.changeMany(
      changed.map(({ id }) => id),
      { assignee },
      {
        text: name === null ? text.thread.unassign : text.thread.assignedTo(name),
        back: before === undefined ? null : { assignee: before },
      },
    );
    onEnd();
  };
  return (
    <>
      <h1 className="truncate" aria-live="polite">
        {text.list.selected(format.count(chosen.length))}
      </h1>
      <div className="list-title-actions">
        <Button look="outline" onPress={change}>
          {areDone ? <ArchiveRestore size={16} aria-hidden /> : <Archive size={16} aria-hidden />}
          {areDone ? text.thread.reopen : text.thread.markDone}
        </Button>
        <MenuTrigger>
          <IconButton icon={UserRoundPlus} label={text.thread.assign} />
          <AssigneePopover
            accountId={sameOf(chosen, ({ accountId }) => accountId)}
            current={sameOf(chosen, ({ assignee }) => assignee)}
            onAssign={assign}
          />
        </MenuTrigger>
        <IconButton icon={X} label={text.list.clearSelection} onPress={onEnd} />
      </div>
    </>
  );
}

/** The value of all rows; undefined when they differ, or there are none. */
function sameOf<T>(rows: readonly Row[], valueOf: (row: Row) => T): T | undefined {
  const [first, ...others] = rows.map(valueOf);
  return others.every((value) => value === first) ? first : undefined;
}
