/** The dialogs about one account, loaded together when the first one is opened. */
import type { Account } from 'email-worker-client';
import type { DialogName } from './account-actions.tsx';
import { ChangeLogIn } from './change-log-in.tsx';
import { DeleteAccount } from './delete-account.tsx';
import { EditAccount } from './edit-account.tsx';
import { LeftOut } from './left-out.tsx';
import { RemovePast } from './remove-past.tsx';

interface AccountDialogsProps {
  /** As it was when the dialog was opened: the list behind it is kept fresh. */
  readonly account: Account;
  readonly dialog: DialogName;
  readonly onClose: () => void;
}

export function AccountDialogs({ account, dialog, onClose }: AccountDialogsProps) {
  const { id, settings } = account;
  switch (dialog) {
    case 'edit':
      return settings !== null && <EditAccount account={account} settings={settings} onClose={onClose} />;
    case 'logIn':
      return settings !== null && <ChangeLogIn account={account} settings={settings} onClose={onClose} />;
    case 'remove':
      return <DeleteAccount account={account} onClose={onClose} />;
    case 'past':
      return <RemovePast account={account} onClose={onClose} />;
    case 'leftOut':
      return <LeftOut id={id} onClose={onClose} />;
  }
}
