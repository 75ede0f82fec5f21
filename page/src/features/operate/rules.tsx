/** The rules on received mail, which programs create by the API: what they do, and switches for them. Then the blocked senders. */
import { useQuery } from '@tanstack/react-query';
import type { Rule } from 'email-worker-client';
import { client } from '../../api/client.ts';
import { Bones } from '../../ui/bones.tsx';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/empty.tsx';
import { BlockedSenders } from './blocked-senders.tsx';
import { Confirm } from './confirm.tsx';
import { useOperateWords } from './operate-words.ts';
import { Status } from './status.tsx';
import { Table } from './table.tsx';
import { useAct } from './use-act.ts';

const BONES = 4;

export function Rules() {
  const { operate, text } = useOperateWords();
  const words = operate.rules;
  const { data, isError, refetch } = useQuery({
    queryKey: ['operate', 'rules', 'list'],
    queryFn: ({ signal }) => client.rules.list({ signal }),
  });
  const toggle = useAct({
    view: 'rules',
    run: ({ id, active, version }: Rule) => client.rules.change(id, { active: !active }, { version }),
  });
  const remove = useAct({
    view: 'rules',
    run: ({ id, version }: Rule) => client.rules.delete(id, { version }),
  });
  return (
    <>
      {data === undefined ? (
        isError ? (
          <Failure title={text.list.failed} onRetry={() => void refetch()} />
        ) : (
          <Bones count={BONES} shape={<div className="operate-bone bone" />} />
        )
      ) : data.length === 0 ? (
        <p>{words.empty}</p>
      ) : (
        <Table<Rule>
          label={operate.sections.rules}
          items={data}
          idOf={({ id }) => id}
          columns={[
            {
              title: words.name,
              isWide: true,
              cell: ({ name, active }) => (
                <>
                  {name} {!active && <Status tone="warn">{words.off}</Status>}
                </>
              ),
            },
            {
              title: words.accounts,
              cell: ({ account_ids: ids }) => (ids === '*' ? operate.all : ids.join(', ')),
            },
            {
              title: words.conditions,
              cell: ({ match, conditions }) => (
                <>
                  {conditions.length > 1 && `${words[match]}: `}
                  {conditions.map(termOf).join(' · ')}
                </>
              ),
            },
            {
              title: words.actions,
              cell: ({ actions, stop }) =>
                [
                  Object.keys(actions).length === 0 ? words.none : termOf(actions),
                  ...(stop ? [words.stops] : []),
                ].join(' · '),
            },
          ]}
          actions={(rule) => (
            <>
              <Button look="outline" isPending={toggle.isPending} onPress={() => toggle.mutate(rule)}>
                {rule.active ? words.turnOff : words.turnOn}
              </Button>
              <Confirm
                label={words.remove}
                question={words.removeQuestion(rule.name)}
                onConfirm={() => remove.mutate(rule)}
              />
            </>
          )}
        />
      )}
      <BlockedSenders />
    </>
  );
}

/** In the terms of the API, in which operators wrote it. */
const termOf = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name} ${inWords(value)}`)
    .join(', ');

const inWords = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(inWords).join(', ')
    : typeof value === 'object' && value !== null
      ? Object.values(value).map(inWords).join(' = ')
      : String(value);
