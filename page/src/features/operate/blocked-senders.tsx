/** Senders whose mail is spam, an action to block one, and one to take it back. */
import type { BlockedSender } from 'email-worker-client';
import { Form, Input, Label, TextField } from 'react-aria-components';
import { client } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Ban } from '../../ui/icons.tsx';
import { useOperateWords } from './operate-words.ts';
import { Paged } from './paged.tsx';
import { Table } from './table.tsx';
import { useAct } from './use-act.ts';
import '../../ui/field.css';

const PAGE = 50;

export function BlockedSenders() {
  const { operate, format } = useOperateWords();
  const words = operate.rules;
  const unblock = useAct({
    view: 'rules',
    run: ({ id }: BlockedSender) => client.blockedSenders.unblock(id),
    say: ({ sender }) => words.unblocked(sender),
  });
  return (
    <section aria-label={words.blockedTitle}>
      <h3>{words.blockedTitle}</h3>
      <p className="operate-hint">{words.blockedHint}</p>
      <BlockForm />
      <Paged
        name={['rules', 'blocked']}
        list={(options) => client.blockedSenders.list({ limit: PAGE }, options)}
        empty={{ icon: Ban, title: words.blockedEmpty }}
      >
        {(items) => (
          <Table<BlockedSender>
            label={words.blockedTitle}
            items={items}
            idOf={({ id }) => id}
            columns={[
              { title: words.sender, isWide: true, cell: ({ sender }) => sender },
              { title: words.accounts, cell: ({ account_id: id }) => id ?? words.everywhere },
              { title: words.blockedAt, cell: ({ blocked_at: at }) => format.full(at) },
            ]}
            actions={(entry) => (
              <Button look="outline" isPending={unblock.isPending} onPress={() => unblock.mutate(entry)}>
                {words.unblock}
              </Button>
            )}
          />
        )}
      </Paged>
    </section>
  );
}

function BlockForm() {
  const { rules: words } = useOperateWords().operate;
  const block = useAct({
    view: 'rules',
    run: (sender: string) => client.blockedSenders.block({ sender }),
    say: ({ sender }) => words.blocked(sender),
  });
  return (
    <Form
      className="operate-form"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const sender = String(new FormData(form).get('sender')).trim();
        block.mutate(sender, { onSuccess: () => form.reset() });
      }}
    >
      <TextField className="field" name="sender" isRequired>
        <Label className="field-label">{words.sender}</Label>
        <Input className="input" />
      </TextField>
      <Button look="outline" type="submit" isPending={block.isPending}>
        {words.block}
      </Button>
    </Form>
  );
}
