/** One line of the list. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Paperclip, Reply, ShieldAlert } from '../../ui/icons.tsx';
import { memo } from 'react';
import { foldersQuery } from '../../api/queries.ts';
import { draftLink, threadLink } from '../../app/links.ts';
import { useSession } from '../../app/session.tsx';
import { useWords } from '../../i18n/index.tsx';
import { Avatar } from '../../ui/avatar.tsx';
import { Middle } from '../../ui/middle.tsx';
import { shown } from '../../ui/shown.ts';
import { accountFolder, type Folder } from '../folders/folder.ts';
import { Marked } from '../search/marked.tsx';
import { nameOf, type Row } from './rows.ts';

/** Height of a line in px, as in the styles. */
export const ROW_HEIGHT = 84;
/** More names would not fit side by side. */
const MAX_NAMES = 3;
const MAX_LABELS = 2;

interface ThreadRowProps {
  readonly folder: Folder;
  readonly row: Row;
  readonly top: number;
  /** Counted from 1. */
  readonly position: number;
  readonly isCurrent: boolean;
  readonly isChecked: boolean;
  /** True if the Tab key stops at this line. */
  readonly isStop: boolean;
  readonly onCheck: ((row: Row) => void) | null;
  /** The reader moves from this line to the next (1) or to the previous one (-1). */
  readonly onStep: (position: number, by: number) => void;
}

/** True when there is more than one account, so that a line has to name its own. */
function useHasAccounts(): boolean {
  const { key_id: me } = useSession();
  const { data = false } = useQuery({
    ...foldersQuery(me),
    select: ({ accounts }) => accounts.length > 1,
  });
  return data;
}

export const ThreadRow = memo(function ThreadRow(props: ThreadRowProps) {
  const { folder, row, top, position, isCurrent, isChecked, isStop, onCheck, onStep } = props;
  const { text } = useWords();
  const hasAccounts = useHasAccounts();
  // A folder of one account has its name already.
  const account = hasAccounts && folder.key !== accountFolder(row.accountId) ? row.accountId : null;
  const subject = row.subject === '' ? text.list.noSubject : row.subject;
  const link =
    row.threadId !== null
      ? threadLink(folder, row.threadId)
      : row.draftId !== null
        ? draftLink(row.draftId)
        : null;
  return (
    <li
      className="row"
      style={{ transform: `translateY(${top}px)` }}
      aria-setsize={-1}
      aria-posinset={position}
      data-is-unread={row.isUnread ? '' : undefined}
      data-is-checked={isChecked ? '' : undefined}
      data-is-undelivered={row.isUndelivered ? '' : undefined}
    >
      {link === null ? (
        <span className="row-link">
          <RowText row={row} subject={subject} account={account} />
        </span>
      ) : (
        <Link
          {...link}
          className="row-link"
          data-row={row.id}
          tabIndex={isStop ? 0 : -1}
          aria-current={isCurrent ? 'true' : undefined}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
            event.preventDefault();
            onStep(position, event.key === 'ArrowDown' ? 1 : -1);
          }}
        >
          <RowText row={row} subject={subject} account={account} />
        </Link>
      )}
      {onCheck !== null && (
        <label className="row-check">
          <input
            type="checkbox"
            tabIndex={isStop ? 0 : -1}
            checked={isChecked}
            onChange={() => onCheck(row)}
            aria-label={`${text.list.select}: ${subject}`}
          />
        </label>
      )}
    </li>
  );
});

interface RowTextProps {
  readonly row: Row;
  readonly subject: string;
  /** null: it need not be named. */
  readonly account: string | null;
}

function RowText({ row, subject, account }: RowTextProps) {
  const { text, format } = useWords();
  const { name: me } = useSession();
  const othersDraft = row.author !== null && row.author !== me ? text.write.draftOf(shown(row.author)) : null;
  const names = format.names(row.people.slice(0, MAX_NAMES).map(nameOf));
  const missing = row.isOutgoing ? text.list.noRecipient : text.list.noSender;
  // A draft of another program may leave the choice of recipients to the service.
  const [sender] = row.people;
  const people = names !== '' ? names : row.isAnswer ? text.list.answer : missing;
  return (
    <>
      {row.isUnread && (
        <span className="row-dot">
          <span className="hidden-text">{text.list.unread}</span>
        </span>
      )}
      <span className="row-line">
        {row.isDeceptive && (
          <>
            <ShieldAlert className="row-deceptive" size={14} aria-hidden />
            <span className="hidden-text">{text.list.deceptive}</span>
          </>
        )}
        <span className="row-people truncate">
          {sender?.name === '' && sender.address !== '' && !row.isOutgoing ? (
            <Middle is="address" of="people">
              {shown(sender.address)}
            </Middle>
          ) : (
            <Marked of="people">{row.isOutgoing && names !== '' ? text.list.to(people) : people}</Marked>
          )}
        </span>
        <time className="row-time" dateTime={row.at}>
          {format.brief(row.at)}
        </time>
      </span>
      <span className="row-line">
        <span className="row-subject truncate">
          <Marked of="subject">{subject}</Marked>
        </span>
        <span className="row-side">
          <RowState row={row} />
          {row.emailCount > 1 && (
            <span>
              <span aria-hidden>{format.count(row.emailCount)}</span>
              <span className="hidden-text">{text.list.emails(format.count(row.emailCount))}</span>
            </span>
          )}
        </span>
      </span>
      <span className="row-line">
        <span className="row-snippet truncate">{othersDraft ?? <Marked>{row.snippet}</Marked>}</span>
        <span className="row-side">
          {account !== null && <span className="row-account truncate">{account}</span>}
          {row.labels.length > 0 && (
            <span className="row-labels">
              {row.labels.slice(0, MAX_LABELS).map((label) => (
                <span key={label} className="chip">
                  {label}
                </span>
              ))}
            </span>
          )}
          {row.hasFiles && (
            <>
              <Paperclip size={14} aria-hidden />
              <span className="hidden-text">{text.list.files}</span>
            </>
          )}
          {row.assigneeName !== null && (
            <>
              <Avatar name={row.assigneeName} of={row.assigneeName} isSmall />
              <span className="hidden-text">{text.thread.assignedTo(row.assigneeName)}</span>
            </>
          )}
        </span>
      </span>
    </>
  );
}

function RowState({ row }: { readonly row: Row }) {
  const { text } = useWords();
  if (row.isUndelivered) return <span className="chip chip-bad">{text.list.undelivered}</span>;
  if (row.isUnanswered)
    return (
      <>
        <Reply className="row-waits" size={14} aria-hidden />
        <span className="hidden-text">{text.list.unanswered}</span>
      </>
    );
  if (row.state === null || row.state === 'sent' || row.state === 'received') return null;
  const isBad = row.state === 'failed' || row.state === 'unknown';
  return <span className={`chip ${isBad ? 'chip-bad' : 'chip-warn'}`}>{text.state[row.state]}</span>;
}
