/** Marks a thread as spam, blocks its sender, and takes it back. */
import type { ThreadRecord } from 'email-worker-client';
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { useThreadActions } from '../../api/actions.ts';
import { useMay } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Ban } from '../../ui/icons.tsx';
import '../../ui/menu.css';

interface SpamButtonProps {
  readonly thread: ThreadRecord;
  /** null: the thread has no sender to block. */
  readonly sender: string | null;
  readonly onLeave: () => void;
}

export function SpamButton({ thread, sender, onLeave }: SpamButtonProps) {
  const { text } = useWords();
  const actions = useThreadActions();
  const mayBlock = useMay('read') && sender !== null && sender !== '';
  if (thread.status === 'spam') {
    const reopen = (): void =>
      actions.change(thread, { status: 'open' }, { text: text.thread.nowNoSpam, back: { status: 'spam' } });
    return <IconButton icon={Ban} label={text.thread.notSpam} onPress={reopen} />;
  }
  const mark = (): void => {
    const { status } = thread;
    actions.change(thread, { status: 'spam' }, { text: text.thread.nowSpam, back: { status } });
    onLeave();
  };
  return (
    <MenuTrigger>
      <IconButton icon={Ban} label={text.thread.spam} />
      <Popover className="popover" placement="bottom end">
        <Menu className="menu">
          <MenuItem className="menu-item" onAction={mark}>
            {text.thread.markSpam}
          </MenuItem>
          {mayBlock && (
            <MenuItem
              className="menu-item"
              onAction={() => {
                actions.block(thread, sender);
                onLeave();
              }}
            >
              <span className="truncate">{text.thread.block(sender)}</span>
            </MenuItem>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
