/** Threads that mail would have joined, but that stay apart because they belong to two customers. */
import { Link } from '@tanstack/react-router';
import type { RefusedMerge } from 'email-worker-client';
import { Split } from '../../ui/icons.tsx';
import { client } from '../../api/client.ts';
import { useOperateWords } from './operate-words.ts';
import { Paged } from './paged.tsx';
import { Table } from './table.tsx';

export function Merges() {
  const { operate, format } = useOperateWords();
  const words = operate.merges;
  return (
    <Paged
      name={['merges']}
      list={(options) => client.threads.refusedMerges({}, options)}
      empty={{ icon: Split, title: words.empty }}
    >
      {(items) => (
        <Table<RefusedMerge>
          label={operate.sections.merges}
          items={items}
          idOf={(merge) => `${merge.email_id} ${merge.other_thread_id}`}
          columns={[
            { title: words.at, cell: (merge) => format.full(merge.refused_at) },
            {
              title: words.thread,
              isWide: true,
              cell: (merge) => <Side thread={merge.thread_id} customer={merge.customer_id} />,
            },
            {
              title: words.other,
              isWide: true,
              cell: (merge) => <Side thread={merge.other_thread_id} customer={merge.other_customer_id} />,
            },
            { title: words.account, cell: (merge) => merge.account_id },
          ]}
        />
      )}
    </Paged>
  );
}

function Side({ thread, customer }: { readonly thread: string; readonly customer: string | null }) {
  const { merges: words } = useOperateWords().operate;
  return (
    <>
      <Link to="/t/$threadId" params={{ threadId: thread }}>
        {words.open}
      </Link>
      {customer !== null && (
        <p className="operate-said">
          {words.customer} <span className="operate-code">{customer}</span>
        </p>
      )}
    </>
  );
}
