/** The panel beside the thread: the customer with all other threads, the participants, and why each email is here. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ThreadEmail, ThreadRecord } from 'email-worker-client';
import { X } from '../../ui/icons.tsx';
import { customerQuery, listQuery } from '../../api/queries.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { useWords } from '../../i18n/index.tsx';
import { Avatar } from '../../ui/avatar.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { shown } from '../../ui/shown.ts';
import { nameOf } from '../threads/rows.ts';
import './side-panel.css';

interface SidePanelProps {
  readonly thread: ThreadRecord;
  readonly emails: readonly ThreadEmail[];
  readonly onClose: () => void;
}

export function SidePanel({ thread, emails, onClose }: SidePanelProps) {
  const { text, format } = useWords();
  useShortcuts({ Escape: onClose });
  return (
    <aside className="side" aria-label={text.side.title}>
      <div className="side-head">
        <h2>{text.side.title}</h2>
        <IconButton icon={X} label={text.app.close} onPress={onClose} />
      </div>
      <section>
        <h3>{text.side.customer}</h3>
        {thread.customer_id === null ? (
          <p className="side-quiet">{text.side.noCustomer}</p>
        ) : (
          <CustomerCard customerId={thread.customer_id} />
        )}
      </section>
      {thread.customer_id !== null && (
        <OtherThreads customerId={thread.customer_id} besides={thread.id} key={thread.customer_id} />
      )}
      <section>
        <h3>{text.side.people}</h3>
        <ul>
          {thread.participants.map((person) => (
            <li key={person.address} className="side-person">
              <Avatar name={person.name} of={person.address} />
              <div>
                <p className="truncate">{nameOf(person)}</p>
                {person.name !== '' && <p className="side-quiet truncate">{shown(person.address)}</p>}
              </div>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h3>{text.side.account}</h3>
        <p>{thread.account_id}</p>
      </section>
      <section>
        <h3>{text.side.why}</h3>
        <ul>
          {emails.map((email) => (
            <li key={email.id} className="side-why">
              <span>
                <bdi>{nameOf(email.from_address) || text.list.noSender}</bdi>, {format.brief(email.date)}
              </span>
              {text.side.rule[email.placement_rule]}
            </li>
          ))}
        </ul>
      </section>
    </aside>
  );
}

function CustomerCard({ customerId }: { readonly customerId: string }) {
  const { text, format } = useWords();
  const { data } = useQuery(customerQuery(customerId));
  return (
    <>
      {data !== undefined && data.name !== null && <p className="side-name">{data.name}</p>}
      {data !== undefined && (
        <p className="side-quiet">
          {text.side.exchanged(format.count(data.emails_inbound), format.count(data.emails_outbound))}
        </p>
      )}
      {data?.addresses.map(({ address }) => (
        <p key={address} className="side-quiet truncate">
          {address}
        </p>
      ))}
      {(data === undefined || data.name === null) && <p className="side-id">{customerId}</p>}
    </>
  );
}

interface OtherThreadsProps {
  readonly customerId: string;
  readonly besides: string;
}

function OtherThreads({ customerId, besides }: OtherThreadsProps) {
  const { text, format } = useWords();
  const list = useInfiniteQuery(listQuery({ kind: 'threads', filter: { customer_id: customerId } }));
  const rows = (list.data?.pages ?? []).flatMap((page) => page.rows).filter(({ id }) => id !== besides);
  return (
    <section>
      <h3>{text.side.otherThreads}</h3>
      {list.isError && (
        <Button look="outline" onPress={() => void list.refetch()}>
          {text.app.retry}
        </Button>
      )}
      {list.isSuccess && rows.length === 0 && <p className="side-quiet">{text.side.noOthers}</p>}
      <ul>
        {rows.map((row) => (
          <li key={row.id}>
            <Link
              className="side-thread"
              to="/f/$folder/$threadId"
              params={{ folder: row.status ?? 'open', threadId: row.id }}
            >
              <span className="truncate">{row.subject === '' ? text.list.noSubject : row.subject}</span>
              <span className="side-quiet">
                {format.brief(row.at)} · {text.thread[row.status ?? 'open']}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {list.hasNextPage && (
        <Button look="outline" onPress={() => void list.fetchNextPage()}>
          {text.side.moreThreads}
        </Button>
      )}
    </section>
  );
}
