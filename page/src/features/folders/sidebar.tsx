/** The folders with their counts, and the person who is logged in. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  Archive,
  AtSign,
  Ban,
  CircleAlert,
  CircleHelp,
  Clock,
  FilePen,
  Inbox,
  Mail,
  PenLine,
  Reply,
  Send,
  UserRound,
  type IconType,
} from '../../ui/icons.tsx';
import type { Folders } from 'email-worker-client';
import { foldersQuery } from '../../api/queries.ts';
import { useNewMessage } from '../../app/links.ts';
import { useMay, useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { IconButton } from '../../ui/button.tsx';
import { EMAIL_FOLDERS, THREAD_FOLDERS, accountFolder, labelFolder, type FixedFolder } from './folder.ts';
import { UserMenu } from './user-menu.tsx';
import './sidebar.css';

const ICONS: Readonly<Record<FixedFolder, IconType>> = {
  open: Inbox,
  unanswered: Reply,
  unread: Mail,
  mine: UserRound,
  done: Archive,
  spam: Ban,
  drafts: FilePen,
  scheduled: Clock,
  sent: Send,
  failed: CircleAlert,
  unknown: CircleHelp,
};

/** What is in them is wrong, or may be. */
const ALARMS: ReadonlySet<FixedFolder> = new Set(['failed', 'unknown', 'spam']);

/** Work that waits for a person has a count; for finished work a count is noise. */
function countOf(folder: FixedFolder, { threads, emails, drafts }: Folders): number | null {
  switch (folder) {
    case 'open':
    case 'unanswered':
    case 'unread':
    case 'mine':
      return threads[folder];
    // A customer among them may be there by mistake; the rest is not work.
    case 'spam':
      return threads.spam_of_customers;
    case 'scheduled':
      return emails.queued;
    case 'failed':
    case 'unknown':
      return emails[folder];
    case 'drafts':
      return drafts;
    case 'done':
    case 'sent':
      return null;
  }
}

interface SidebarProps {
  /** The reader chose an entry. */
  readonly onGo?: () => void;
}

export function Sidebar({ onGo }: SidebarProps) {
  const { text } = useWords();
  const { key_id: me } = useSession();
  const mayWrite = useMay('draft');
  const writeNew = useNewMessage();
  const mayRead = useMay('read');
  const { data } = useQuery({ ...foldersQuery(me), enabled: mayRead });
  const fixed = (folder: FixedFolder) => (
    <FolderLink
      key={folder}
      folder={folder}
      title={text.folders[folder]}
      icon={ICONS[folder]}
      count={data === undefined ? null : countOf(folder, data)}
      limit={data?.limit ?? 0}
      isAlarm={ALARMS.has(folder)}
      onGo={onGo}
    />
  );
  return (
    <div className="sidebar">
      <div className="sidebar-head">
        <img src="/icon.svg" alt="" />
        <span className="truncate">{text.app.name}</span>
        {mayWrite && mayRead && (
          <IconButton
            icon={PenLine}
            label={text.app.newMessage}
            shortcut="C"
            onPress={() => {
              onGo?.();
              writeNew();
            }}
          />
        )}
      </div>
      {mayRead ? (
        <nav className="sidebar-scroll" aria-label={text.folders.title}>
          <ul className="folder-group">
            {THREAD_FOLDERS.filter((folder) => folder !== 'mine' || me !== null).map(fixed)}
          </ul>
          <FolderGroup title={text.folders.outgoing}>{EMAIL_FOLDERS.map(fixed)}</FolderGroup>
          {data !== undefined && data.accounts.length > 1 && (
            <FolderGroup title={text.folders.accounts}>
              {data.accounts.map(({ account_id, open }) => (
                <FolderLink
                  key={account_id}
                  folder={accountFolder(account_id)}
                  title={account_id}
                  icon={AtSign}
                  count={open}
                  limit={data.limit}
                  onGo={onGo}
                />
              ))}
            </FolderGroup>
          )}
          {data !== undefined && data.labels.length > 0 && (
            <FolderGroup title={text.folders.labels}>
              {data.labels.map(({ label, open }) => (
                <FolderLink
                  key={label}
                  folder={labelFolder(label)}
                  title={label}
                  icon={null}
                  count={open}
                  limit={data.limit}
                  onGo={onGo}
                />
              ))}
            </FolderGroup>
          )}
        </nav>
      ) : (
        <div className="sidebar-scroll" />
      )}
      <div className="sidebar-foot">
        <UserMenu onGo={onGo} />
      </div>
    </div>
  );
}

interface FolderGroupProps {
  readonly title: string;
  readonly children: React.ReactNode;
}

function FolderGroup({ title, children }: FolderGroupProps) {
  return (
    <div className="folder-group">
      <h2 className="folder-group-title">{title}</h2>
      <ul>{children}</ul>
    </div>
  );
}

interface FolderLinkProps {
  readonly folder: string;
  readonly title: string;
  readonly icon: IconType | null;
  /** null: no count is shown. */
  readonly count: number | null;
  /** A count that reaches this limit means "so many or more". */
  readonly limit: number;
  readonly isAlarm?: boolean;
  readonly onGo: (() => void) | undefined;
}

function FolderLink({ folder, title, icon: Icon, count, limit, isAlarm = false, onGo }: FolderLinkProps) {
  const { text, format } = useWords();
  const number = count === null ? '' : format.count(count);
  return (
    <li>
      <Link
        className="folder"
        to="/f/$folder"
        params={{ folder }}
        activeProps={{ 'aria-current': 'page' }}
        data-is-alarm={isAlarm && count !== null && count > 0 ? '' : undefined}
        onClick={() => onGo?.()}
      >
        {Icon === null ? <span className="folder-dot" /> : <Icon size={16} strokeWidth={1.75} aria-hidden />}
        <span className="truncate">{title}</span>
        {count !== null && count > 0 && (
          <span className="folder-count">
            <span aria-hidden>{count >= limit ? text.folders.orMore(number) : number}</span>
            <span className="hidden-text">{text.folders.count(number)}</span>
          </span>
        )}
      </Link>
    </li>
  );
}
