/** The actions of operators. */
import type { AuditEntry } from 'email-worker-client';
import { ScrollText } from '../../ui/icons.tsx';
import { client } from '../../api/client.ts';
import { useOperateWords } from './operate-words.ts';
import { Paged } from './paged.tsx';
import { Status } from './status.tsx';
import { Table } from './table.tsx';

const PAGE = 50;
const TONES = { done: 'good', refused: 'bad', unknown: 'warn' } as const;

export function Audit() {
  const { operate, format } = useOperateWords();
  const words = operate.audit;
  return (
    <Paged
      name={['audit']}
      list={(options) => client.audit.list({ limit: PAGE }, options)}
      empty={{ icon: ScrollText, title: words.empty }}
    >
      {(items) => (
        <Table<AuditEntry>
          label={operate.sections.audit}
          items={items}
          idOf={({ id }) => id}
          columns={[
            { title: words.at, cell: ({ at }) => format.full(at) },
            {
              title: words.author,
              cell: ({ author: { kind, name } }) => (kind === 'command' ? `${words.command}: ${name}` : name),
            },
            {
              title: words.act,
              isWide: true,
              cell: ({ act, target }) => (
                <>
                  {act}
                  {target !== null && <p className="operate-said operate-code">{target}</p>}
                </>
              ),
            },
            {
              title: words.outcome,
              cell: ({ outcome, code }) => (
                <>
                  <Status tone={TONES[outcome]}>{words.outcomes[outcome]}</Status>
                  {code !== null && <p className="operate-said operate-code">{code}</p>}
                </>
              ),
            },
          ]}
        />
      )}
    </Paged>
  );
}
