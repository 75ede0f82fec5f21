/** What can be done with an account, as far as the service lets this person do it. */
import type { Account } from 'email-worker-client';
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { useMay } from '../../../app/session.tsx';
import { client } from '../../../api/client.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Archive, Ellipsis, KeyRound, RotateCw, Trash2 } from '../../../ui/icons.tsx';
import { useOperateWords } from '../operate-words.ts';
import { useAct } from '../use-act.ts';
import '../../../ui/menu.css';

export type DialogName = 'edit' | 'logIn' | 'remove' | 'leftOut' | 'past';

interface AccountActionsProps {
  readonly account: Account;
  readonly onOpen: (dialog: DialogName) => void;
}

export function AccountActions({ account, onOpen }: AccountActionsProps) {
  const { operate, text } = useOperateWords();
  const words = operate.accounts;
  const isAdmin = useMay('admin');
  const mayOperate = useMay('operate');
  const { id, state, settings, declared } = account;
  const pause = useAct({
    view: 'accounts',
    run: () => (state === 'paused' ? client.accounts.resume(id) : client.accounts.pause(id)),
  });
  const resync = useAct({
    view: 'accounts',
    run: () => client.accounts.resync(id),
    say: () => words.retried,
  });
  const mayChange = isAdmin && !declared;
  // Of a log-in by consent, the owner of the mailbox gives a new one.
  const hasPassword = settings !== null && settings.oauth2 === null;
  const more = [
    ...(mayChange && hasPassword ? [['logIn', words.changeLogIn, KeyRound] as const] : []),
    ...(isAdmin && settings !== null && settings.capture !== null
      ? [['past', words.past, Archive] as const]
      : []),
    ...(account.has_mailbox ? [['resync', words.resync, RotateCw] as const] : []),
    ...(mayChange ? [['remove', words.remove, Trash2] as const] : []),
  ];
  if (state === 'removed' || !mayOperate || (declared && more.length === 0)) return null;
  return (
    <div className="card-actions">
      {mayChange && settings !== null && (
        <Button look="outline" onPress={() => onOpen('edit')}>
          {words.edit}
        </Button>
      )}
      {!declared && (
        <Button look="outline" isPending={pause.isPending} onPress={() => pause.mutate(undefined)}>
          {state === 'paused' ? words.resume : words.pause}
        </Button>
      )}
      {more.length > 0 && (
        <MenuTrigger>
          <IconButton icon={Ellipsis} label={`${text.app.more}: ${id}`} />
          <Popover className="popover" placement="bottom start">
            <Menu
              className="menu"
              onAction={(key) => {
                if (key === 'resync') resync.mutate(undefined);
                else onOpen(key as DialogName);
              }}
            >
              {more.map(([key, title, Icon]) => (
                <MenuItem key={key} id={key} className="menu-item" textValue={title}>
                  <Icon size={16} strokeWidth={1.75} aria-hidden />
                  {title}
                </MenuItem>
              ))}
            </Menu>
          </Popover>
        </MenuTrigger>
      )}
    </div>
  );
}
