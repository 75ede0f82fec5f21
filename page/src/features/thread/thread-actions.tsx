/** The actions on a thread: done or open, assignee, labels. */
import type { ThreadRecord } from 'email-worker-client';
import { useQuery } from '@tanstack/react-query';
import {
  Archive,
  ArchiveRestore,
  Check,
  MailMinus,
  PanelRight,
  Printer,
  Tag,
  UserRoundPlus,
} from '../../ui/icons.tsx';
import { useRef, useState, type RefObject } from 'react';
import { Dialog, Input, Menu, MenuItem, MenuTrigger, Popover, TextField } from 'react-aria-components';
import { useThreadActions } from '../../api/actions.ts';
import { foldersQuery } from '../../api/queries.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { useMay, useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Avatar } from '../../ui/avatar.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { SpamButton } from './spam-button.tsx';
import { AssigneePopover } from './assignee-menu.tsx';
import '../../ui/field.css';
import '../../ui/menu.css';

interface ThreadActionsProps {
  readonly thread: ThreadRecord;
  /** The address that wrote the newest received email; null: none did. */
  readonly sender: string | null;
  readonly isSideOpen: boolean;
  readonly onSide: () => void;
  readonly onPrint: () => void;
  /** The reader marked the thread as done or unread, and goes on. */
  readonly onLeave: () => void;
}

export function ThreadActionBar({
  thread,
  sender,
  isSideOpen,
  onSide,
  onPrint,
  onLeave,
}: ThreadActionsProps) {
  const { text } = useWords();
  const actions = useThreadActions();
  const mayChange = useMay('handle');
  const isDone = thread.status === 'done';
  const toggle = (): void => {
    actions.change(
      thread,
      { status: isDone ? 'open' : 'done' },
      {
        text: isDone ? text.thread.nowOpen('1') : text.thread.nowDone('1'),
        back: { status: thread.status },
      },
    );
    if (!isDone) onLeave();
  };
  const markUnread = (): void => {
    actions.markUnread(thread.id);
    onLeave();
  };
  useShortcuts(mayChange ? { e: toggle, u: markUnread } : {});
  return (
    <div className="thread-actions">
      {mayChange && (
        <>
          <AssigneeButton thread={thread} />
          <LabelButton thread={thread} />
          <SpamButton thread={thread} sender={sender} onLeave={onLeave} />
          <IconButton icon={MailMinus} label={text.thread.markUnread} shortcut="U" onPress={markUnread} />
          <IconButton
            icon={isDone ? ArchiveRestore : Archive}
            label={isDone ? text.thread.reopen : text.thread.markDone}
            shortcut="E"
            onPress={toggle}
          />
        </>
      )}
      <span className="thread-print">
        <IconButton icon={Printer} label={text.thread.printAll} onPress={onPrint} />
      </span>
      <IconButton
        icon={PanelRight}
        label={text.thread.showDetails}
        aria-expanded={isSideOpen}
        onPress={onSide}
      />
    </div>
  );
}

function AssigneeButton({ thread }: { readonly thread: ThreadRecord }) {
  const { text } = useWords();
  const actions = useThreadActions();
  const { assignee_name: name } = thread;
  return (
    <MenuTrigger>
      <Button aria-label={name === null ? text.thread.assign : text.thread.assignedTo(name)}>
        {name === null ? (
          <UserRoundPlus size={18} strokeWidth={1.75} aria-hidden />
        ) : (
          <>
            <Avatar name={name} of={name} isSmall />
            <span className="truncate thread-assignee">{name}</span>
          </>
        )}
      </Button>
      <AssigneePopover
        accountId={thread.account_id}
        current={thread.assignee}
        onAssign={(to) => to.assignee !== thread.assignee && actions.assign(thread, to)}
      />
    </MenuTrigger>
  );
}

/** The limit of the service. */
const MAX_LABEL = 64;

function LabelButton({ thread }: { readonly thread: ThreadRecord }) {
  const { text } = useWords();
  const { key_id: me } = useSession();
  const actions = useThreadActions();
  const { data } = useQuery(foldersQuery(me));
  const [isNaming, setNaming] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const known = [...new Set([...thread.labels, ...(data?.labels ?? []).map(({ label }) => label)])].sort();
  const add = (label: string): void =>
    actions.change(
      thread,
      { add_labels: [label] },
      { text: `${text.thread.labels}: ${label}`, back: { remove_labels: [label] } },
    );
  const remove = (label: string): void =>
    actions.change(
      thread,
      { remove_labels: [label] },
      { text: text.thread.removeLabel(label), back: { add_labels: [label] } },
    );
  return (
    <>
      <MenuTrigger>
        <IconButton ref={button} icon={Tag} label={text.thread.labels} />
        <Popover className="popover" placement="bottom end">
          <Menu className="menu" selectionMode="multiple" selectedKeys={thread.labels}>
            {known.map((label) => (
              <MenuItem
                key={label}
                id={label}
                className="menu-item"
                textValue={label}
                onAction={() => (thread.labels.includes(label) ? remove(label) : add(label))}
              >
                <span className="truncate">{label}</span>
                {thread.labels.includes(label) && <Check className="menu-item-check" size={16} aria-hidden />}
              </MenuItem>
            ))}
            <MenuItem id={NEW} className="menu-item" onAction={() => setNaming(true)}>
              {text.thread.newLabel} …
            </MenuItem>
          </Menu>
        </Popover>
      </MenuTrigger>
      <NamePopover
        label={text.thread.newLabel}
        triggerRef={button}
        isOpen={isNaming}
        onOpenChange={setNaming}
        maxLength={MAX_LABEL}
        onSave={add}
      />
    </>
  );
}

/** Longer than a label may be, so that it can't be one. */
const NEW = '+'.repeat(MAX_LABEL + 1);

interface NamePopoverProps {
  readonly label: string;
  readonly maxLength: number;
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly onSave: (value: string) => void;
  /** The button beside which the popover opens. */
  readonly triggerRef: RefObject<HTMLButtonElement | null>;
}

function NamePopover({ label, maxLength, onSave, ...place }: NamePopoverProps) {
  const { text } = useWords();
  return (
    <Popover className="popover" placement="bottom end" {...place}>
      <Dialog aria-label={label}>
        <form
          className="popover-form"
          onSubmit={(event) => {
            event.preventDefault();
            const value = new FormData(event.currentTarget).get('name');
            if (typeof value !== 'string' || value.trim() === '') return;
            place.onOpenChange(false);
            onSave(value.trim());
          }}
        >
          <TextField className="field" name="name" aria-label={label} maxLength={maxLength} autoFocus>
            <Input className="input" placeholder={label} />
          </TextField>
          <Button look="primary" type="submit">
            {text.thread.save}
          </Button>
        </form>
      </Dialog>
    </Popover>
  );
}
