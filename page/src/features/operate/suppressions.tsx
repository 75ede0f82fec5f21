/** Suppressed addresses: why and since when they get no mail, and an action to allow them again. */
import type { Suppression } from 'email-worker-client';
import { ShieldCheck } from '../../ui/icons.tsx';
import { Form, Input, Label, TextField } from 'react-aria-components';
import { client } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { useOperateWords } from './operate-words.ts';
import { Paged } from './paged.tsx';
import { Table } from './table.tsx';
import { useAct } from './use-act.ts';
import '../../ui/field.css';

const PAGE = 50;

export function Suppressions() {
  const { operate, format } = useOperateWords();
  const words = operate.suppressions;
  const lift = useAct({
    view: 'suppressions',
    run: (address: string) => client.suppressions.lift(address),
    say: (_, address) => words.lifted(address),
  });
  return (
    <>
      <AddSuppression />
      <Paged
        name={['suppressions']}
        list={(options) => client.suppressions.list({ limit: PAGE }, options)}
        empty={{ icon: ShieldCheck, title: words.empty }}
      >
        {(items) => (
          <Table<Suppression>
            label={operate.sections.suppressions}
            items={items}
            idOf={({ address }) => address}
            columns={[
              { title: words.address, isWide: true, cell: ({ address }) => address },
              {
                title: words.reason,
                cell: ({ reason, note, diagnostic }) => (
                  <>
                    {words.reasons[reason]}
                    {(note ?? diagnostic) !== '' && <p className="operate-said">{note ?? diagnostic}</p>}
                  </>
                ),
              },
              { title: words.since, cell: ({ since }) => format.full(since) },
            ]}
            actions={({ address }) => (
              <Button look="outline" isPending={lift.isPending} onPress={() => lift.mutate(address)}>
                {words.lift}
              </Button>
            )}
          />
        )}
      </Paged>
    </>
  );
}

function AddSuppression() {
  const { suppressions: words } = useOperateWords().operate;
  const add = useAct({
    view: 'suppressions',
    run: ({ address, note }: { readonly address: string; readonly note: string }) =>
      client.suppressions.add(address, note === '' ? {} : { note }),
  });
  return (
    <Form
      className="operate-form"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const data = new FormData(form);
        add.mutate(
          { address: String(data.get('address')).trim(), note: String(data.get('note')).trim() },
          { onSuccess: () => form.reset() },
        );
      }}
    >
      <TextField className="field" name="address" type="email" isRequired>
        <Label className="field-label">{words.address}</Label>
        <Input className="input" />
      </TextField>
      <TextField className="field" name="note">
        <Label className="field-label">{words.note}</Label>
        <Input className="input" />
      </TextField>
      <Button look="outline" type="submit" isPending={add.isPending}>
        {words.add}
      </Button>
    </Form>
  );
}
