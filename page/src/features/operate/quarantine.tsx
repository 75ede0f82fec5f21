/** Messages of mailboxes that could not be taken, and an action to try them again now. */
import type { QuarantinedMessage } from 'email-worker-client';
import { PackageCheck } from '../../ui/icons.tsx';
import { client } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { shown } from '../../ui/shown.ts';
import { useOperateWords } from './operate-words.ts';
import { Paged } from './paged.tsx';
import { Table } from './table.tsx';
import { useAct } from './use-act.ts';

const PAGE = 50;

export function Quarantine() {
  const { operate, format } = useOperateWords();
  const words = operate.quarantine;
  const retry = useAct({
    view: 'quarantine',
    run: (id: string) => client.quarantine.retry(id),
    say: () => words.retried,
  });
  return (
    <Paged
      name={['quarantine']}
      list={(options) => client.quarantine.list({ limit: PAGE }, options)}
      empty={{ icon: PackageCheck, title: words.empty }}
    >
      {(items) => (
        <Table<QuarantinedMessage>
          label={operate.sections.quarantine}
          items={items}
          idOf={({ id }) => id}
          columns={[
            {
              title: words.message,
              isWide: true,
              cell: ({ subject, from_address: from, uid }) => (
                <>
                  {subject === null ? `UID ${uid}` : shown(subject)}
                  {from !== null && <p className="operate-said">{from.address}</p>}
                </>
              ),
            },
            { title: words.mailbox, cell: (message) => `${message.account_id} · ${message.mailbox}` },
            {
              title: words.reason,
              cell: ({ reason, tries }) => (
                <>
                  {reason}
                  <p className="operate-said">{words.tries(format.count(tries))}</p>
                </>
              ),
            },
            { title: words.next, cell: (message) => format.full(message.next_try_at) },
          ]}
          actions={({ id }) => (
            <Button look="outline" isPending={retry.isPending} onPress={() => retry.mutate(id)}>
              {words.retry}
            </Button>
          )}
        />
      )}
    </Paged>
  );
}
