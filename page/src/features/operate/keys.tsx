/** The API keys of people and programs. */
import type { Key } from 'email-worker-client';
import { KeyRound } from '../../ui/icons.tsx';
import { client } from '../../api/client.ts';
import { Confirm } from './confirm.tsx';
import { NewKey } from './new-key.tsx';
import { useOperateWords } from './operate-words.ts';
import { Paged } from './paged.tsx';
import { Status } from './status.tsx';
import { Table } from './table.tsx';
import { useAct } from './use-act.ts';

const PAGE = 50;

export function Keys() {
  const { operate, format } = useOperateWords();
  const words = operate.keys;
  const revoke = useAct({ view: 'keys', run: (id: string) => client.keys.revoke(id) });
  const moment = (at: string | null): string => (at === null ? operate.never : format.full(at));
  return (
    <>
      <NewKey />
      <Paged
        name={['keys']}
        list={(options) => client.keys.list({ limit: PAGE }, options)}
        empty={{ icon: KeyRound, title: words.empty, hint: words.hint }}
      >
        {(items) => (
          <Table<Key>
            label={operate.sections.keys}
            items={items}
            idOf={({ id }) => id}
            columns={[
              { title: words.name, isWide: true, cell: ({ name }) => name },
              {
                title: words.rights,
                cell: ({ rights }) => rights.map((right) => words.right[right]).join(' · '),
              },
              {
                title: words.accounts,
                cell: ({ account_ids: ids }) => (ids === '*' ? operate.all : format.names(ids)),
              },
              { title: words.used, cell: (key) => moment(key.last_used_at) },
              { title: words.expires, cell: (key) => moment(key.expires_at) },
            ]}
            actions={({ id, name, revoked_at: revoked }) =>
              revoked === null ? (
                <Confirm
                  label={words.revoke}
                  question={words.confirmRevoke(name)}
                  onConfirm={() => revoke.mutate(id)}
                />
              ) : (
                <Status tone="quiet">{words.revoked}</Status>
              )
            }
          />
        )}
      </Paged>
    </>
  );
}
