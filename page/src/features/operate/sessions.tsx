/** The browsers that are logged in with the same key; each can be logged out alone. */
import type { BrowserSession } from 'email-worker-client';
import { MonitorSmartphone } from '../../ui/icons.tsx';
import { client } from '../../api/client.ts';
import { Confirm } from './confirm.tsx';
import { useOperateWords } from './operate-words.ts';
import { Paged } from './paged.tsx';
import { Status } from './status.tsx';
import { Table } from './table.tsx';
import { useAct } from './use-act.ts';

export function Sessions() {
  const { operate, format } = useOperateWords();
  const words = operate.sessions;
  const end = useAct({ view: 'sessions', run: (id: string) => client.sessions.endOne(id) });
  return (
    <Paged<BrowserSession>
      name={['sessions']}
      list={(options) => ({
        page: async () => ({ items: [...(await client.sessions.list(options))], nextCursor: null }),
      })}
      empty={{ icon: MonitorSmartphone, title: words.empty }}
    >
      {(items) => (
        <Table<BrowserSession>
          label={operate.sections.sessions}
          items={items}
          idOf={({ id }) => id}
          columns={[
            { title: words.device, isWide: true, cell: ({ device }) => device },
            { title: words.opened, cell: ({ created_at: at }) => format.full(at) },
            { title: words.used, cell: ({ last_used_at: at }) => format.full(at) },
          ]}
          actions={({ id, device, current }) =>
            current ? (
              <Status tone="good">{words.current}</Status>
            ) : (
              <Confirm
                label={words.end}
                question={words.confirmEnd(device)}
                onConfirm={() => end.mutate(id)}
              />
            )
          }
        />
      )}
    </Paged>
  );
}
