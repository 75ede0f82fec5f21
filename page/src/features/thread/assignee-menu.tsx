/** The choice of the person to whom threads are assigned: by arrow keys, or by the first letters of a name. */
import { useQuery } from '@tanstack/react-query';
import { Check } from '../../ui/icons.tsx';
import { Menu, MenuItem, Popover } from 'react-aria-components';
import type { ThreadAssignee } from '../../api/actions.ts';
import { assigneesQuery } from '../../api/queries.ts';
import { useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import '../../ui/menu.css';

interface AssigneeMenuProps {
  /** undefined: the threads are of several accounts. */
  readonly accountId: string | undefined;
  /** null: not assigned; undefined: several threads that differ. */
  readonly current: string | null | undefined;
  readonly onAssign: (assignee: ThreadAssignee) => void;
}

export function AssigneePopover(props: AssigneeMenuProps) {
  return (
    <Popover className="popover" placement="bottom end">
      <AssigneeMenu {...props} />
    </Popover>
  );
}

function AssigneeMenu({ accountId, current, onAssign }: AssigneeMenuProps) {
  const { text } = useWords();
  const { key_id: me } = useSession();
  const { data } = useQuery(assigneesQuery(accountId));
  // The reader comes first.
  const assignees = (data ?? []).toSorted((one, other) => Number(other.id === me) - Number(one.id === me));
  return (
    <Menu
      className="menu"
      aria-label={text.thread.assign}
      renderEmptyState={() => (
        <p className="menu-title">{data === undefined ? text.app.loading : text.thread.noAssignees}</p>
      )}
    >
      {assignees.map(({ id, name }) => (
        <MenuItem
          key={id}
          id={id}
          className="menu-item"
          textValue={name}
          onAction={() => onAssign({ assignee: id, assignee_name: name })}
        >
          <span className="truncate">{id === me ? text.thread.assignMe(name) : name}</span>
          {current === id && <Check className="menu-item-check" size={16} aria-hidden />}
        </MenuItem>
      ))}
      {current !== null && (
        <MenuItem
          id={NOT_ASSIGNED}
          className="menu-item"
          onAction={() => onAssign({ assignee: null, assignee_name: null })}
        >
          {text.thread.unassign}
        </MenuItem>
      )}
    </Menu>
  );
}

/** No key has this id. */
const NOT_ASSIGNED = '-';
